import type { startDeliverer } from '../delivery/deliverer.ts';
import type { startGateway } from '../discord/gateway.ts';
import { type Clock, inTime, SECOND } from '../domain/clock.ts';
import type { Completeness } from '../domain/completeness.ts';
import type { Interface, Outage } from '../domain/upstream.ts';
import type { Unreachable } from '../receiver/reachability.ts';
import type { OpenStore } from '../store/open.ts';

export type Readiness = Record<string, { ready: boolean; detail?: string }>;

type Part = Readiness[string];
type Gateway = Pick<ReturnType<typeof startGateway>, 'state' | 'shards'>;
type Deliverer = Pick<ReturnType<typeof startDeliverer>, 'state'>;

export interface ReadinessSources {
  database: OpenStore;
  /** Why deliveries cannot be stored; null: they can. */
  fault(): string | null;
  /** null: this process does not work now. */
  working(): { gateway: Gateway; deliverer: Deliverer } | null;
  outages(): readonly { name: string; outages: ReadonlyMap<Interface, Outage> }[];
  unreachable(): Unreachable | null;
  completeness(): readonly Completeness[];
  clock: Clock;
}

export async function readReadiness(sources: ReadinessSources): Promise<Readiness> {
  const { database, clock } = sources;
  const working = sources.working();
  const now = clock.now();
  return {
    database: await databasePart(database, sources.fault(), clock),
    ...(working && { discord: discordPart(working.gateway), sending: sendingPart(working.deliverer.state()) }),
    interfaces: interfacesPart(sources.outages(), now),
    publicUrl: reachPart(sources.unreachable(), now),
    ...chainParts(sources.completeness(), now),
  };
}

/** `/readyz` responds within two seconds, also when the disk hangs. */
const READY_TIMEOUT_MS = 1_500;

export async function databasePart({ store }: OpenStore, fault: string | null, clock: Clock): Promise<Part> {
  // Only a small read: counting the waiting rows would delay deliveries. A read also succeeds on a full disk, so `fault` is
  // checked too.
  const looked = store.inbox.next(1).then(
    () => ({ reason: null }),
    (error: Error) => ({ reason: error.message }),
  );
  const response = await inTime(looked, READY_TIMEOUT_MS, clock);
  if (response === null) return { ready: false, detail: 'the database has not responded for 1.5 s: the disk may hang' };
  if (response.reason !== null) return { ready: false, detail: response.reason };
  return fault === null ? { ready: true } : { ready: false, detail: `deliveries cannot be stored: ${fault}` };
}

function discordPart({ state, shards }: Gateway): Part {
  const current = state();
  return current === 'ready' ? { ready: true } : { ready: false, detail: current + awayShards(shards()) };
}

function awayShards(shards: ReadonlyMap<number, boolean>): string {
  const away = [...shards].filter(([, isConnected]) => !isConnected).map(([shard]) => shard);
  return away.length === 0 || away.length === shards.size ? '' : `: shard ${away.join(', ')} of ${shards.size}`;
}

function sendingPart({ authorized, breaker }: ReturnType<Deliverer['state']>): Part {
  if (authorized && !breaker) return { ready: true };
  return { ready: false, detail: authorized ? 'held back after refusals' : 'Discord refuses the token' };
}

/** Never unready: the bot posts alerts without these interfaces. */
function interfacesPart(
  networks: readonly { name: string; outages: ReadonlyMap<Interface, Outage> }[],
  now: number,
): Part {
  const away = networks.flatMap(({ name: network, outages }) =>
    [...outages].map(
      ([name, { since, failure }]) =>
        `${name}${network && ` of ${network}`} unavailable for ${secondsSince(since, now)} s: ${failure.status}`,
    ),
  );
  return { ready: true, ...(away.length > 0 && { detail: away.join('; ') }) };
}

/** Never unready: others may reach the public address even if the bot cannot. */
function reachPart(unreachable: Unreachable | null, now: number): Part {
  if (!unreachable) return { ready: true };
  const { since, reason } = unreachable;
  return { ready: true, detail: `not reachable from here for ${secondsSince(since, now)} s: ${reason}` };
}

/** Never unready: alerts do not need the node. */
function chainParts(all: readonly Completeness[], now: number): Readiness {
  return Object.fromEntries(
    all.map(({ network, block, blockAt, trouble, unchecked, hasTraces }) => {
      const detail = [
        block === null || blockAt === null
          ? 'nothing compared yet'
          : `complete up to block ${block} (${secondsSince(blockAt, now)} s ago)`,
        ...(trouble === null
          ? []
          : [`unchecked since then, for ${secondsSince(trouble.since, now)} s: ${trouble.reason}`]),
        ...unchecked.map(
          ({ after, upTo, reason }) => `not completely checked: blocks ${after + 1}-${upTo} (${reason})`,
        ),
        ...(hasTraces === false ? ['no traces: payments by contracts are found by the balance only'] : []),
      ];
      return [network === '' ? 'chain' : `chain:${network}`, { ready: true, detail: detail.join('; ') }];
    }),
  );
}

const secondsSince = (since: number, now: number): number => Math.max(0, Math.round((now - since) / SECOND));
