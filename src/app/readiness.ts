import { type Clock, inTime, SECOND } from '../domain/clock.ts';
import type { Interface, Outage } from '../domain/upstream.ts';
import type { Readiness } from '../receiver/ops.ts';
import type { Unreachable } from '../receiver/reach.ts';
import type { OpenStore } from '../store/open-store.ts';
import type { Working } from './working.ts';

type Part = Readiness[string];

/** `/readyz` responds within two seconds, also when the disk hangs. */
const READY_TIMEOUT_MS = 1_500;

/** What `/readyz` shows, as read from the parts of the app. */
export interface ReadinessSources {
  database: OpenStore;
  /** Why deliveries cannot be stored; null: they can. */
  storageFault(): string | null;
  /** What sends and serves commands; null: another process does. */
  working(): Pick<Working, 'gateway' | 'deliverer'> | null;
  outages(): ReadonlyMap<Interface, Outage>;
  unreachable(): Unreachable | null;
  clock: Clock;
}

/** Reads whether each part can do its work, and why not. */
export async function readReadiness(sources: ReadinessSources): Promise<Readiness> {
  const working = sources.working();
  return {
    database: await databasePart(sources.database, sources.storageFault(), sources.clock),
    ...(working && { discord: discordPart(working.gateway), sending: sendingPart(working.deliverer.state()) }),
    interfaces: interfacesPart(sources.outages(), sources.clock.now()),
    publicUrl: reachPart(sources.unreachable(), sources.clock.now()),
  };
}

/** Whether the database can be used, or why not; `fault`: why deliveries cannot be stored. */
export async function databasePart({ store, check }: OpenStore, fault: string | null, clock: Clock): Promise<Part> {
  const unusable = check().then(
    // Only a small read: counting the waiting rows would delay deliveries. A read also succeeds on a full disk, so
    // `fault` is checked too.
    (reason) => reason ?? store.inbox.next(1).then(() => null),
  );
  const response = await inTime(
    unusable.then(
      (reason) => ({ reason }),
      (error: Error) => ({ reason: error.message }),
    ),
    READY_TIMEOUT_MS,
    clock,
  );
  if (response === null) return { ready: false, detail: 'the database has not responded for 1.5 s: the disk may hang' };
  if (response.reason !== null) return { ready: false, detail: response.reason };
  return fault === null ? { ready: true } : { ready: false, detail: `deliveries cannot be stored: ${fault}` };
}

function discordPart({ state, shards }: Working['gateway']): Part {
  const current = state();
  return current === 'ready' ? { ready: true } : { ready: false, detail: current + awayShards(shards()) };
}

/** Which shards are disconnected while others are not. */
function awayShards(shards: ReadonlyMap<number, boolean>): string {
  const away = [...shards].filter(([, isConnected]) => !isConnected).map(([shard]) => shard);
  return away.length === 0 || away.length === shards.size ? '' : `: shard ${away.join(', ')} of ${shards.size}`;
}

function sendingPart({ authorized, breaker }: ReturnType<Working['deliverer']['state']>): Part {
  if (authorized && !breaker) return { ready: true };
  return { ready: false, detail: authorized ? 'held back after refusals' : 'Discord refuses the token' };
}

/** Never unready: the bot posts alerts without these interfaces. The detail shows which are down. */
function interfacesPart(outages: ReadonlyMap<Interface, Outage>, now: number): Part {
  const away = [...outages].map(
    ([name, { since, failure }]) => `${name} unavailable for ${secondsSince(since, now)} s: ${failure.status}`,
  );
  return { ready: true, ...(away.length > 0 && { detail: away.join('; ') }) };
}

/** Never unready: others may reach the public address even if the bot cannot. */
function reachPart(unreachable: Unreachable | null, now: number): Part {
  if (!unreachable) return { ready: true };
  const { since, reason } = unreachable;
  return { ready: true, detail: `not reachable from here for ${secondsSince(since, now)} s: ${reason}` };
}

const secondsSince = (since: number, now: number): number => Math.max(0, Math.round((now - since) / SECOND));
