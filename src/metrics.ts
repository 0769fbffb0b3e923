import { Counter, Gauge, Registry } from 'prom-client';
import type { Backlog } from './store/figures.ts';

/** What is shown as gauges, read anew at each scrape; times in milliseconds since 1970. */
export interface Figures {
  backlog: Backlog;
  sending: { authorised: boolean; invalidRequests: number; breaker: boolean };
  commits: number;
  /** When the newest backup was made; null when there is none. */
  lastBackup: number | null;
  now: number;
}

/**
 * The counters that the parts raise, and the registry that `/metrics` shows. `read` gives the gauges' figures, `refusals`
 * names every reason for which the receiver refuses.
 */
export function createMetrics({ read, refusals }: { read(): Promise<Figures>; refusals: readonly string[] }) {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name: `ledgerbell_${name}`, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name: `ledgerbell_${name}`, help, labelNames, registers });

  const refused = counter('refused_total', 'Requests that the receiver refused', ['reason']);
  // What never happened is told as well: an alarm needs the zero before the first one.
  for (const reason of refusals) refused.inc({ reason }, 0);
  const inbox = gauge('inbox_waiting', 'Deliveries stored and not yet routed');
  const inboxOldest = gauge('inbox_oldest_seconds', 'Age of the oldest delivery that is not yet routed');
  const commits = gauge('inbox_commits', 'Commits of the receiver since the start');
  const quarantined = gauge('quarantined', 'Deliveries that could not be understood');
  const quarantinedBytes = gauge('quarantined_bytes', 'Their size');
  const outbox = gauge('outbox_waiting', 'Alerts that wait for their message', ['state']);
  const outboxOldest = gauge('outbox_oldest_seconds', 'How long the oldest alert that is due has waited');
  const frozen = gauge('outbox_frozen', 'Messages begun and not yet confirmed');
  const deadLetters = gauge('dead_letters', 'Alerts that Discord refused in every form, or that waited too long');
  const channels = gauge('channels', 'Channels that cannot be written to', ['state']);
  const invalid = gauge('invalid_requests', 'Requests answered with 401, 403 or 429 in the last 10 minutes');
  const breaker = gauge('breaker_open', '1 while sending is held back for everything');
  const authorised = gauge('authorised', '0 while Discord refuses the token');
  const backup = gauge('last_backup_timestamp_seconds', 'When the newest backup was made; 0 when there is none');

  return {
    received: counter('received_total', 'Deliveries answered with 200'),
    refused,
    routed: counter('routed_total', 'Deliveries routed'),
    registry: {
      contentType: registry.contentType,
      async metrics(): Promise<string> {
        const { backlog, sending, now, ...figures } = await read();
        // A clock that was set back makes nothing younger than new.
        const age = (oldest: number | null) => (oldest === null ? 0 : Math.max(0, now - oldest) / 1_000);
        inbox.set(backlog.inbox.waiting);
        inboxOldest.set(age(backlog.inbox.oldest));
        commits.set(figures.commits);
        quarantined.set(backlog.quarantine.rows);
        quarantinedBytes.set(backlog.quarantine.bytes);
        const { oldest, ...waiting } = backlog.alerts;
        for (const [state, count] of Object.entries(waiting)) outbox.set({ state }, count);
        outboxOldest.set(age(oldest));
        frozen.set(backlog.frozen);
        deadLetters.set(backlog.deadLetters);
        for (const [state, count] of Object.entries(backlog.channels)) channels.set({ state }, count);
        invalid.set(sending.invalidRequests);
        breaker.set(sending.breaker ? 1 : 0);
        authorised.set(sending.authorised ? 1 : 0);
        backup.set((figures.lastBackup ?? 0) / 1_000);
        return registry.metrics();
      },
    },
  };
}
