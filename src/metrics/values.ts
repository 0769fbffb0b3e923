import { SECOND } from '../domain/clock.ts';
import type { Backlog } from '../domain/overview.ts';
import { INTERFACES, type Interface, type Outage } from '../domain/upstream.ts';
import type { Counts } from './counts.ts';
import type { Value, Values } from './render.ts';

/** What is read for each scrape; times in milliseconds since 1970. */
export interface Figures {
  /** null: the database did not return it. */
  backlog: Backlog | null;
  isDatabaseReady: boolean;
  syncMs: number;
  /** null: another process sends. */
  sending: { authorized: boolean; invalidRequests: number; breaker: boolean; heldGuilds: number } | null;
  /** Commits of the receiver since the start. */
  commits: number;
  /** When the newest backup was made: null when there is none, undefined when somebody else makes them. */
  lastBackup: number | null | undefined;
  /** How often this process was elected, where there are several. */
  elections: number;
  /** The interfaces that do not work now, and the failed requests since the start. */
  interfaces: {
    outages: ReadonlyMap<Interface, Pick<Outage, 'since'>>;
    errors: { name: Interface; reason: string; count: number }[];
  };
  /** Whether each connection to the gateway is open, by its number; empty before the first one. null: another process has them. */
  shards: ReadonlyMap<number, boolean> | null;
  /** Sizes in bytes, by the file's part. */
  files: Readonly<Record<string, number>>;
  diskFree: number | null;
  build: Readonly<Record<'version' | 'schema' | 'node', string>>;
  now: number;
}

/** The value of every metric. */
export function toValues(counts: Counts, figures: Figures): Values {
  const { sending, interfaces, lastBackup, now } = figures;
  // After the clock was set back, an age would be negative.
  const age = (since: number | null) => (since === null ? 0 : Math.max(0, now - since) / SECOND);
  const shards = figures.shards?.size === 0 ? new Map([[0, false]]) : (figures.shards ?? new Map<number, boolean>());
  return {
    received_total: counts.received,
    refused_total: by('reason', counts.refused),
    inbox_commits_total: figures.commits,
    routed_total: counts.routed,
    messages_sent_total: by('kind', counts.sent),
    alerts_posted_total: counts.alertsPosted,
    discord_attempts_total: by('outcome', counts.attempts),
    ...ofBacklog(figures.backlog, age),
    working: sending === null ? 0 : 1,
    elections_total: figures.elections,
    invalid_requests: sending?.invalidRequests ?? null,
    held_guilds: sending?.heldGuilds ?? null,
    breaker_open: sending && (sending.breaker ? 1 : 0),
    authorized: sending && (sending.authorized ? 1 : 0),
    shard_connected: [...shards].map(([shard, isConnected]) => [{ shard: String(shard) }, isConnected ? 1 : 0]),
    database_ready: figures.isDatabaseReady ? 1 : 0,
    last_sync_seconds: figures.syncMs / SECOND,
    file_bytes: by('file', figures.files),
    disk_free_bytes: figures.diskFree,
    last_backup_timestamp_seconds: lastBackup === undefined ? null : (lastBackup ?? 0) / SECOND,
    interface_unavailable_seconds: INTERFACES.map((name) => [
      { interface: name },
      age(interfaces.outages.get(name)?.since ?? null),
    ]),
    interface_errors_total: interfaces.errors.map(({ name, reason, count }) => [{ interface: name, reason }, count]),
    build_info: [[figures.build, 1]],
  };
}

const by = (label: string, values: Readonly<Record<string, number>>): Value =>
  Object.entries(values).map(([key, value]) => [{ [label]: key }, value]);

function ofBacklog(backlog: Backlog | null, age: (since: number | null) => number) {
  const read = (of: (known: Backlog) => number) => (backlog === null ? null : of(backlog));
  const { oldest: _, ...waiting } = { oldest: null, ...backlog?.alerts };
  return {
    inbox_waiting: read(({ inbox }) => inbox.waiting),
    inbox_oldest_seconds: read(({ inbox }) => age(inbox.oldest)),
    quarantined: read(({ quarantine }) => quarantine.rows),
    quarantined_bytes: read(({ quarantine }) => quarantine.bytes),
    outbox_waiting: by('state', waiting),
    outbox_oldest_seconds: read(({ alerts }) => age(alerts.oldest)),
    outbox_frozen: read(({ frozen }) => frozen),
    dead_letters: read(({ deadLetters }) => deadLetters),
    channels: by('state', { ...backlog?.channels }),
  };
}
