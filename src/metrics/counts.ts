import type { Batch } from '../domain/batch.ts';
import { SECOND } from '../domain/clock.ts';
import type { SendOutcome } from '../domain/send-outcome.ts';

/** Counters that rise while the process runs; everything else is read when `/metrics` is requested. */

const KINDS = ['create', 'digest', 'edit', 'notice'] as const satisfies Batch['kind'][];

const OUTCOMES = [
  'sent',
  'rate-limited',
  'rate-limited-globally',
  'unsure',
  'breaker',
  'unauthorized',
  'forbidden',
  'gone',
  'refused',
] as const satisfies (SendOutcome['status'] | 'rate-limited-globally')[];

/** What is counted since the start. */
export type Counts = ReturnType<typeof createCounts>;

/**
 * Creates the counters. `refusals`: every reason for which the receiver refuses a request. `onDelay` gets the seconds
 * from the oldest delivery of each message until Discord accepted it.
 */
export function createCounts<Reason extends string>(refusals: readonly Reason[], onDelay: (seconds: number) => void) {
  // Events that never occurred are shown as 0: an alarm needs that to notice the first one.
  const zeros = <Key extends string>(keys: readonly Key[]) =>
    Object.fromEntries(keys.map((key) => [key, 0])) as Record<Key, number>;
  const counts = {
    received: 0,
    routed: 0,
    refused: zeros(refusals),
    sent: zeros(KINDS),
    alertsPosted: 0,
    attempts: zeros(OUTCOMES),
    /** Counts an attempt to post or edit a message. */
    attempted(
      {
        kind,
        alerts,
        outcome,
        receivedAt,
      }: { kind: Batch['kind']; alerts: number; outcome: SendOutcome; receivedAt: number | null },
      now: number,
    ): void {
      // No request was sent.
      if (outcome.status === 'rate-limited' && outcome.local) return;
      const isGlobal = outcome.status === 'rate-limited' && outcome.global;
      counts.attempts[isGlobal ? 'rate-limited-globally' : outcome.status]++;
      if (outcome.status !== 'sent') return;
      // Nothing was edited: the message was deleted. Alerts to be appended count when they get their own message.
      if (kind === 'edit' && outcome.messageId === null) return;
      counts.sent[kind]++;
      counts.alertsPosted += alerts;
      // A digest waits on purpose, for any reason.
      if (receivedAt !== null && alerts > 0 && kind !== 'digest') onDelay(Math.max(0, now - receivedAt) / SECOND);
    },
  };
  return counts;
}
