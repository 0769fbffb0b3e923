import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { Batch } from '../domain/batch.ts';
import { SECOND } from '../domain/clock.ts';
import type { SendOutcome } from '../domain/sender.ts';
import { FAILURE_REASONS, INTERFACES } from '../domain/upstream.ts';

/** Counters and histograms. gauges.ts has the values that are read at a scrape; docs/reference/metrics.md explains all. */

const KINDS = ['create', 'digest', 'edit', 'notice'] as const satisfies Batch['kind'][];

const OUTCOMES = [
  'sent',
  'rate-limited',
  'rate-limited-globally',
  'unconfirmed',
  'breaker',
  'unauthorized',
  'forbidden',
  'gone',
  'refused',
] as const satisfies (SendOutcome['status'] | 'rate-limited-globally')[];

interface Attempt {
  kind: Batch['kind'];
  /** How many alerts the message shows for the first time. */
  alerts: number;
  outcome: SendOutcome;
  /** When its oldest delivery was received; null: unknown, or the channel was blocked. */
  receivedAt: number | null;
}

const MAX_LABELS = 50;

/** Empty: there is only one network. */
export const networkLabels = (networks: readonly { name: string }[]): string[] =>
  networks.length === 1
    ? []
    : networks.map(({ name }, index) => (index < MAX_LABELS - 1 || networks.length <= MAX_LABELS ? name : 'others'));

export type Metrics = ReturnType<typeof createMetrics>;

/** `networks`: the labels of the networks, where there are several. */
export function createMetrics(refusals: readonly string[], networks: readonly string[] = []) {
  const registry = new Registry();
  const registers = [registry];

  function counter<Label extends string = never>(name: string, help: string, ...labelNames: Label[]) {
    return new Counter({ name: `ledgerbell_${name}`, help, labelNames, registers });
  }

  const refused = counter('refused_total', 'Requests that the receiver rejected', 'reason');
  const messages = counter('messages_sent_total', 'Messages and edits that Discord accepted', 'kind');
  const posted = counter('alerts_posted_total', 'Alerts in messages that Discord accepted');
  const attempts = counter('discord_attempts_total', 'Attempts to post or edit a message, by outcome', 'outcome');
  const interfaceErrors = counter(
    'interface_errors_total',
    'Requests to an interface that failed',
    'interface',
    'reason',
    'network',
  );
  const forgotten = counter('forgotten_total', 'Transfers of uncataloged tokens deleted early', 'reason');
  const delay = new Histogram({
    name: 'ledgerbell_message_delay_seconds',
    help: 'From receiving the oldest delivery in a message until Discord accepted the message; without digests and quiet hours',
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600],
    registers,
  });
  // What never happened is shown as 0: an alarm needs that to notice the first time.
  for (const reason of refusals) refused.inc({ reason }, 0);
  for (const reason of ['age', 'disk']) forgotten.inc({ reason }, 0);
  for (const kind of KINDS) messages.inc({ kind }, 0);
  for (const outcome of OUTCOMES) attempts.inc({ outcome }, 0);
  for (const name of INTERFACES)
    for (const reason of FAILURE_REASONS)
      for (const labels of networks.length === 0 ? [{}] : networks.map((network) => ({ network })))
        interfaceErrors.inc({ interface: name, reason, ...labels }, 0);

  return {
    registry,
    received: counter('received_total', 'Deliveries acknowledged with 200'),
    refused,
    routed: counter('routed_total', 'Deliveries routed'),
    interfaceErrors,
    clockJumps: counter('clock_jumps_total', 'Jumps of the clock by more than an hour'),
    found: counter('chain_found_total', 'Transfers that were found on the chain and had not been delivered'),
    forgotten,
    attempted({ kind, alerts, outcome, receivedAt }: Attempt, now: number): void {
      // No request was sent.
      if (outcome.status === 'rate-limited' && outcome.local) return;
      const isGlobal = outcome.status === 'rate-limited' && outcome.global;
      attempts.inc({ outcome: isGlobal ? 'rate-limited-globally' : outcome.status });
      if (outcome.status !== 'sent') return;
      // Nothing was edited: the message was deleted. Alerts to be appended count when they get their own message.
      if (kind === 'edit' && outcome.messageId === null) return;
      messages.inc({ kind });
      posted.inc(alerts);
      // A digest waits on purpose, for any reason.
      if (receivedAt !== null && alerts > 0 && kind !== 'digest') delay.observe(Math.max(0, now - receivedAt) / SECOND);
    },
  };
}

/** Gauges whose names end like those of counters; the same figures have other names, too. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

let ofProcess: Registry | undefined;

/** Collected from the first scrape on, once per process, however many bots tests start in it. */
export function processMetrics(): Registry {
  if (ofProcess) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  for (const name of MISNAMED) ofProcess.removeSingleMetric(name);
  return ofProcess;
}
