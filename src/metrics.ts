import { Counter, Gauge, Registry } from 'prom-client';

/** What is shown as gauges, read anew at each scrape; ages in seconds. */
export interface Figures {
  inbox: { waiting: number; oldestSeconds: number; quarantined: number; quarantinedBytes: number };
  outbox: { waiting: number; oldestSeconds: number; frozen: number; deadLetters: number };
  channels: { parked: number; paused: number };
  sending: { invalidRequests: number; breaker: boolean };
  commits: number;
  /** When the newest backup was made, in milliseconds; null when there is none. */
  lastBackup: number | null;
}

/** The counters that the parts raise, and the registry that `/metrics` shows; `read` gives the gauges' figures. */
export function createMetrics(read: () => Promise<Figures>) {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `ledgerbell_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `ledgerbell_${name}`, help, labelNames, registers });

  const inbox = gauge('inbox_waiting', 'Deliveries stored and not yet routed');
  const inboxOldest = gauge('inbox_oldest_seconds', 'Age of the oldest delivery that is not yet routed');
  const quarantined = gauge('quarantined', 'Deliveries that could not be understood');
  const quarantinedBytes = gauge('quarantined_bytes', 'Their size');
  const outbox = gauge('outbox_waiting', 'Alerts that wait for their message');
  const outboxOldest = gauge('outbox_oldest_seconds', 'Age of the oldest alert that waits');
  const frozen = gauge('outbox_frozen', 'Messages frozen and not yet confirmed');
  const deadLetters = gauge('dead_letters', 'Alerts that Discord refused in every form');
  const channels = gauge('channels', 'Channels that cannot be written to', ['state']);
  const invalid = gauge(
    'invalid_requests',
    'Requests that Discord refused with 401, 403 or 429 in the last 10 minutes',
  );
  const breaker = gauge('breaker_open', '1 while sending is held back for everything');
  const commits = gauge('inbox_commits', 'Commits of the receiver since the start');
  const backup = gauge('last_backup_timestamp_seconds', 'When the newest backup was made; 0 when there is none');

  return {
    received: counter('received_total', 'Deliveries answered with 200'),
    refused: counter('refused_total', 'Requests that the receiver refused', ['reason']),
    routed: counter('routed_total', 'Deliveries routed'),
    registry: {
      contentType: registry.contentType,
      async metrics(): Promise<string> {
        const figures = await read();
        inbox.set(figures.inbox.waiting);
        inboxOldest.set(figures.inbox.oldestSeconds);
        quarantined.set(figures.inbox.quarantined);
        quarantinedBytes.set(figures.inbox.quarantinedBytes);
        outbox.set(figures.outbox.waiting);
        outboxOldest.set(figures.outbox.oldestSeconds);
        frozen.set(figures.outbox.frozen);
        deadLetters.set(figures.outbox.deadLetters);
        channels.set({ state: 'parked' }, figures.channels.parked);
        channels.set({ state: 'paused' }, figures.channels.paused);
        invalid.set(figures.sending.invalidRequests);
        breaker.set(figures.sending.breaker ? 1 : 0);
        commits.set(figures.commits);
        backup.set((figures.lastBackup ?? 0) / 1_000);
        return registry.metrics();
      },
    },
  };
}
