import { stat } from 'node:fs/promises';
import { Gauge, Registry } from 'prom-client';
import { type Clock, inTime, SECOND } from '../domain/clock.ts';
import type { Completeness } from '../domain/completeness.ts';
import type { Backlog } from '../domain/guild.ts';
import { INTERFACES, type Interface, type Outage } from '../domain/upstream.ts';
import { freeBytes } from '../limits.ts';
import { processMetrics } from './metrics.ts';

const TIMEOUT_MS = 5 * SECOND;

export interface GaugeSources {
  backlog(now: number): Promise<Backlog>;
  isDatabaseReady(): Promise<boolean>;
  syncMs(): number;
  /** null: this process neither sends nor has a connection to the gateway. */
  sending(): { authorized: boolean; invalidRequests: number; breaker: boolean; pausedGuilds: number } | null;
  /** Empty before the first connection to the gateway. */
  shards(): ReadonlyMap<number, boolean>;
  /** null: there is no backup; undefined: somebody else makes them. */
  lastBackup(): number | null | undefined;
  /** `network` undefined: it is the only one. */
  outages(): readonly { network: string | undefined; outages: ReadonlyMap<Interface, Pick<Outage, 'since'>> }[];
  /** When the bot first could not reach itself at PUBLIC_URL; null: it can, or has not tried. */
  unreachable(): { since: number } | null;
  /** Empty in a process that does not work. */
  completeness(): readonly Completeness[];
  /** null: the database is on a server. */
  file: string | null;
  build: Readonly<Record<'version' | 'schema' | 'node', string>>;
  clock: Clock;
}

type Figures = Awaited<ReturnType<typeof readFigures>>;

/** A record has one value for each value of the gauge's label. null or undefined: not known now. */
type Value = number | boolean | null | undefined | Readonly<Record<string, number | boolean>>;

async function readFigures(sources: GaugeSources) {
  const { file, clock } = sources;
  const now = clock.now();
  return {
    // A fault is what the other figures are read for: they do not depend on the database.
    backlog: await inTime(sources.backlog(now), TIMEOUT_MS, clock).catch(() => null),
    isDatabaseReady: await sources.isDatabaseReady(),
    syncMs: sources.syncMs(),
    sending: sources.sending(),
    shards: sources.shards(),
    lastBackup: sources.lastBackup(),
    outages: sources.outages(),
    unreachable: sources.unreachable(),
    completeness: sources.completeness(),
    files: file === null ? {} : { database: await sizeOf(file), wal: await sizeOf(`${file}-wal`) },
    diskFree: file === null ? null : await freeBytes(file).catch(() => null),
    // After the clock was set back, an age would be negative.
    age: (since: number | null = null) => (since === null ? 0 : Math.max(0, now - since) / SECOND),
  };
}

const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

export function createScrape(registry: Registry, sources: GaugeSources) {
  const reads: ((figures: Figures) => void)[] = [];

  function gauge(name: string, help: string, read: (figures: Figures) => Value, label?: string): void {
    const labelNames = label === undefined ? [] : [label];
    const metric = new Gauge({ name: `ledgerbell_${name}`, help, labelNames, registers: [registry] });
    reads.push((figures) => {
      const value = read(figures);
      metric.reset();
      if (label !== undefined)
        for (const [key, state] of Object.entries(value ?? {})) metric.set({ [label]: key }, Number(state));
      // A gauge without labels that was reset is 0, which would be a claim.
      else if (value === null || value === undefined) metric.remove();
      else metric.set(Number(value));
    });
  }

  /** null: not known, shown as NaN. */
  function chainGauge(
    name: string,
    help: string,
    read: (one: Completeness, age: Figures['age']) => number | boolean | null,
  ): void {
    const all = ({ completeness, age }: Figures) =>
      Object.fromEntries(completeness.map((state) => [state.network, read(state, age) ?? Number.NaN]));
    gauge(`chain_${name}`, help, all, 'network');
  }

  gauge('inbox_waiting', 'Deliveries stored and not yet routed', ({ backlog }) => backlog?.inbox.waiting);
  gauge(
    'inbox_oldest_seconds',
    'Age of the oldest delivery that is not yet routed',
    ({ backlog, age }) => backlog && age(backlog.inbox.oldest),
  );
  gauge('quarantined', 'Deliveries that could not be read', ({ backlog }) => backlog?.quarantine.rows);
  gauge(
    'quarantined_bytes',
    'Bytes of the deliveries that could not be read',
    ({ backlog }) => backlog?.quarantine.bytes,
  );
  gauge('outbox_waiting', 'Alerts that wait for their message', waitingAlerts, 'state');
  gauge(
    'outbox_oldest_seconds',
    'How long the oldest alert that is due has waited',
    ({ backlog, age }) => backlog && age(backlog.alerts.oldest),
  );
  gauge('outbox_frozen', 'Messages begun and not yet confirmed', ({ backlog }) => backlog?.frozen);
  gauge(
    'dead_letters',
    'Alerts that Discord rejected in every form, or that waited too long',
    ({ backlog }) => backlog?.deadLetters,
  );
  gauge('channels', 'Channels that the bot cannot post in', ({ backlog }) => backlog?.channels, 'state');
  gauge(
    'invalid_requests',
    'Requests that got 401, 403 or 429 in the last 10 minutes',
    ({ sending }) => sending?.invalidRequests,
  );
  gauge(
    'held_guilds',
    'Servers whose channels wait together after too many rejections',
    ({ sending }) => sending?.pausedGuilds,
  );
  gauge('breaker_open', '1 while all sending is paused', ({ sending }) => sending?.breaker);
  gauge('authorized', '0 while Discord rejects the token', ({ sending }) => sending?.authorized);
  gauge('shard_connected', '1 while this connection (shard) to the gateway is open', connectedShards, 'shard');
  gauge(
    'working',
    '1 while this process routes and sends; with several processes on Postgres, one of them does',
    ({ sending }) => sending !== null,
  );
  gauge('database_ready', '1 while the database works, as in /readyz', ({ isDatabaseReady }) => isDatabaseReady);
  gauge(
    'last_sync_seconds',
    'How long the disk took for the last commit, or has taken for the current one',
    ({ syncMs }) => syncMs / SECOND,
  );
  gauge('file_bytes', 'Sizes of files', ({ files }) => files, 'file');
  gauge('disk_free_bytes', 'Free space on the disk of the database', ({ diskFree }) => diskFree);
  gauge('last_backup_timestamp_seconds', 'When the newest backup was made; 0 when there is none', ({ lastBackup }) =>
    lastBackup === undefined ? null : (lastBackup ?? 0) / SECOND,
  );
  gauge(
    'public_url_unreachable_seconds',
    'How long the bot has not reached itself at PUBLIC_URL; 0 while it does',
    ({ unreachable, age }) => age(unreachable?.since),
  );
  const unavailable = new Gauge({
    name: 'ledgerbell_interface_unavailable_seconds',
    help: 'How long an interface has been down; 0 while it works',
    labelNames: ['interface', 'network'],
    registers: [registry],
  });
  reads.push(({ outages: all, age }) => {
    for (const { network, outages } of all)
      for (const name of INTERFACES)
        unavailable.set({ interface: name, ...(network !== undefined && { network }) }, age(outages.get(name)?.since));
  });
  chainGauge('checked_block', 'Block up to which a network was compared with its chain', ({ block }) => block);
  chainGauge('checked_age_seconds', 'How long ago that block was mined', ({ blockAt }, age) => blockAt && age(blockAt));
  chainGauge('trouble_seconds', 'How long a network’s node has not responded; 0 while it does', ({ trouble }, age) =>
    age(trouble?.since),
  );
  chainGauge('unchecked_blocks', 'Recent blocks of which something could not be checked', ({ unchecked }) =>
    unchecked.reduce((sum, { after, upTo }) => sum + upTo - after, 0),
  );
  chainGauge('traces', 'Whether a network’s node shows payments inside of transactions', ({ hasTraces }) => hasTraces);
  new Gauge({
    name: 'ledgerbell_build_info',
    help: 'Always 1; the labels show what runs',
    labelNames: Object.keys(sources.build),
    registers: [registry],
  }).set(sources.build, 1);

  return async (): Promise<{ contentType: string; text: string }> => {
    const all = Registry.merge([registry, processMetrics()]);
    const figures = await readFigures(sources);
    for (const read of reads) read(figures);
    return { contentType: all.contentType, text: await all.metrics() };
  };
}

function waitingAlerts({ backlog }: Figures): Value {
  if (backlog === null) return null;
  const { due, held, closed } = backlog.alerts;
  return { due, held, closed };
}

/** Before the first connection, shard 0 is shown as closed. */
function connectedShards({ sending, shards }: Figures): Value {
  if (sending === null) return null;
  return shards.size === 0 ? { 0: false } : Object.fromEntries(shards);
}
