import packageJson from '../../package.json' with { type: 'json' };
import { type Clock, inTime, SECOND } from '../domain/clock.ts';
import type { Completeness } from '../domain/completeness.ts';
import type { Interface, Outage } from '../domain/upstream.ts';
import { createScrape } from '../metrics/gauges.ts';
import { createOps, type Readiness } from '../receiver/ops.ts';
import type { Unreachable } from '../receiver/reachability.ts';
import { listen } from '../receiver/server.ts';
import type { OpenStore } from '../store/open.ts';
import type { AppContext } from './context.ts';
import type { Data } from './data.ts';
import type { Interfaces } from './interfaces.ts';
import type { Receiving } from './receiving.ts';
import type { Work } from './work.ts';
import type { Working } from './working.ts';

export async function startOperations(
  { config, clock, metrics, stack }: AppContext,
  { file, schema, store, database, lastBackup }: Data,
  interfaces: Interfaces,
  { receiver, reachability }: Receiving,
  work: Work,
): Promise<string> {
  const outages = () =>
    interfaces.all.map(({ label, network, health }) => ({
      network: label,
      name: label === undefined ? '' : network.name,
      outages: health.outages(),
    }));
  const scrape = createScrape(metrics.registry, {
    backlog: store.metrics.backlog,
    isDatabaseReady: async () => (await databasePart(database, receiver.fault(), clock)).ready,
    syncMs: database.syncMs,
    sending: () => work.current()?.deliverer.state() ?? null,
    shards: () => work.current()?.gateway.shards() ?? new Map(),
    lastBackup,
    outages,
    completeness: () => work.current()?.services.completeness() ?? [],
    file,
    build: { version: packageJson.version, schema: String(schema), node: process.version },
    clock,
  });
  const readiness = async (): Promise<Readiness> => {
    const working = work.current();
    const now = clock.now();
    return {
      database: await databasePart(database, receiver.fault(), clock),
      ...(working && { discord: discordPart(working.gateway), sending: sendingPart(working.deliverer.state()) }),
      interfaces: interfacesPart(outages(), now),
      publicUrl: reachPart(reachability.unreachable(), now),
      ...chainParts(working?.services.completeness() ?? [], now),
    };
  };
  const ops = createOps({ scrape, readiness, role: work.role });
  stack.defer(() => ops.close());
  return listen(ops, config.OPS_HOST, config.OPS_PORT, 'OPS_PORT');
}

type Part = Readiness[string];

/** `/readyz` responds within two seconds, also when the disk hangs. */
const READY_TIMEOUT_MS = 1_500;

async function databasePart({ store }: OpenStore, fault: string | null, clock: Clock): Promise<Part> {
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

function discordPart({ state, shards }: Working['gateway']): Part {
  const current = state();
  return current === 'ready' ? { ready: true } : { ready: false, detail: current + awayShards(shards()) };
}

function awayShards(shards: ReadonlyMap<number, boolean>): string {
  const away = [...shards].filter(([, isConnected]) => !isConnected).map(([shard]) => shard);
  return away.length === 0 || away.length === shards.size ? '' : `: shard ${away.join(', ')} of ${shards.size}`;
}

function sendingPart({ authorized, breaker }: ReturnType<Working['deliverer']['state']>): Part {
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
