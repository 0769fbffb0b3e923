import { Counter, Gauge, Registry } from 'prom-client';
import type { Backlog } from './domain/overview.ts';
import { INTERFACES, type Interface, type Outage } from './domain/upstream.ts';

/** The values for each scrape; times in milliseconds since 1970. */
export interface Figures {
  backlog: Backlog;
  sending: { authorized: boolean; invalidRequests: number; breaker: boolean; heldGuilds: number };
  /** Commits of the receiver since the start. */
  commits: number;
  /** When the newest backup was made; null: no backup. */
  lastBackup: number | null;
  interfaces: Interfaces;
  now: number;
}

/** The interfaces that are down now, and the failed requests since the start. */
interface Interfaces {
  outages: ReadonlyMap<Interface, Pick<Outage, 'since'>>;
  errors: { name: Interface; reason: string; count: number }[];
}

/** Counters since the start. */
export interface Counts<Reason extends string = string> {
  received: number;
  routed: number;
  refused: Record<Reason, number>;
}

/** Creates the metrics; `refusals`: every reason for which the receiver refuses. */
export function createCounts<Reason extends string>(refusals: readonly Reason[]): Counts<Reason> {
  // Reasons that never occurred are shown as 0: an alarm needs that to notice the first one.
  const refused = Object.fromEntries(refusals.map((reason) => [reason, 0])) as Record<Reason, number>;
  return { received: 0, routed: 0, refused };
}

/** The text for Prometheus. */
export async function renderMetrics(
  counts: Counts,
  { backlog, sending, commits, lastBackup, interfaces, now }: Figures,
): Promise<{ contentType: string; text: string }> {
  const registry = new Registry();
  const about = (name: string, help: string, labelNames: string[] = []) => ({
    name: `ledgerbell_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  const counter = (name: string, help: string, value: number) => new Counter(about(name, help)).inc(value);
  const gauge = (name: string, help: string, value: number) => new Gauge(about(name, help)).set(value);
  const gauges = (name: string, help: string, values: Record<string, number>) => {
    const states = new Gauge(about(name, help, ['state']));
    for (const [state, value] of Object.entries(values)) states.set({ state }, value);
  };
  // After the clock was set back, an age would be negative.
  const age = (since: number | null) => (since === null ? 0 : Math.max(0, now - since) / 1_000);
  const { inbox, quarantine, alerts, frozen, deadLetters, channels } = backlog;
  const { oldest, ...waiting } = alerts;

  counter('received_total', 'Deliveries answered with 200', counts.received);
  const refused = new Counter(about('refused_total', 'Requests that the receiver refused', ['reason']));
  for (const [reason, count] of Object.entries(counts.refused)) refused.inc({ reason }, count);
  counter('routed_total', 'Deliveries routed', counts.routed);
  gauge('inbox_waiting', 'Deliveries stored and not yet routed', inbox.waiting);
  gauge('inbox_oldest_seconds', 'Age of the oldest delivery that is not yet routed', age(inbox.oldest));
  gauge('inbox_commits', 'Commits of the receiver since the start', commits);
  gauge('quarantined', 'Deliveries that could not be understood', quarantine.rows);
  gauge('quarantined_bytes', 'Bytes of the deliveries that could not be understood', quarantine.bytes);
  gauges('outbox_waiting', 'Alerts that wait for their message', waiting);
  gauge('outbox_oldest_seconds', 'How long the oldest alert that is due has waited', age(oldest));
  gauge('outbox_frozen', 'Messages begun and not yet confirmed', frozen);
  gauge('dead_letters', 'Alerts that Discord refused in every form, or that waited too long', deadLetters);
  gauges('channels', 'Channels that cannot be written to', channels);
  gauge('invalid_requests', 'Requests answered with 401, 403 or 429 in the last 10 minutes', sending.invalidRequests);
  gauge('breaker_open', '1 while sending is held back for everything', sending.breaker ? 1 : 0);
  gauge('held_guilds', 'Servers whose channels wait together after too many refusals', sending.heldGuilds);
  gauge('authorised', '0 while Discord refuses the token', sending.authorized ? 1 : 0);
  gauge(
    'last_backup_timestamp_seconds',
    'When the newest backup was made; 0 when there is none',
    (lastBackup ?? 0) / 1_000,
  );
  const away = new Gauge(
    about('interface_unavailable_seconds', 'For how long an interface has not worked; 0 when it works', ['interface']),
  );
  for (const name of INTERFACES) away.set({ interface: name }, age(interfaces.outages.get(name)?.since ?? null));
  const errors = new Counter(
    about('interface_errors_total', 'Requests to an interface that failed', ['interface', 'reason']),
  );
  for (const { name, reason, count } of interfaces.errors) errors.inc({ interface: name, reason }, count);
  return { contentType: registry.contentType, text: await registry.metrics() };
}
