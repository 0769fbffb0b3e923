import type { Logger } from 'pino';
import { type Clock, DAY, HOUR, MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { PostResult } from './post.ts';
import type { NotificationStore } from './store/index.ts';
import type { Delivery } from './store/outbox.ts';
import type { Faults } from './types.ts';

/** Delay before each retry; there is no retry after the last one. */
const RETRY_DELAYS_MS: readonly number[] = [15 * SECOND, MINUTE, 10 * MINUTE, HOUR, DAY, DAY];
/**
 * How long a receiver may be silent before its oldest deliveries are given up: twice the schedule. Where every attempt runs
 * into its timeout, some deliveries never get an attempt, and would never be given up otherwise.
 */
const SILENCE_MS = 2 * RETRY_DELAYS_MS.reduce((sum, delay) => sum + delay);

/** A webhook's row of failed attempts: when it began, and the newest delivery at that time. */
interface Silence {
  since: number;
  newest: number;
}

/** Dependencies of {@link createOutcomes}. */
interface OutcomesOptions {
  store: NotificationStore;
  clock: Clock;
  log: Logger;
  faults: () => Faults;
}

/** Creates the part that stores the outcomes of attempts, and gives up the oldest deliveries of silent receivers. */
export function createOutcomes({ store, clock, log, faults }: OutcomesOptions) {
  const silences = new Map<string, Silence>();

  /** Stores the end of a delivery, its repetition or its retry. */
  function outcomeOf(delivery: Delivery, number: number, { status, error }: PostResult) {
    const { id, repeats } = delivery;
    const { repeat, repeatAfterMs } = faults();
    const isDelivered = status === 200;
    if (isDelivered && repeats < repeat) {
      const dueAt = clock.now() + repeatAfterMs;
      store.deliveries.postpone(id, { attempts: 0, repeats: repeats + 1, dueAt });
      return { type: 'scheduled' as const, reason: 'repeat' as const, dueAt };
    }
    if (isDelivered) {
      store.deliveries.deliver(id, clock.now());
      return { type: 'ended' as const, outcome: 'delivered' as const };
    }
    const reason = error ?? `HTTP ${status}`;
    const delay = RETRY_DELAYS_MS[number - 1];
    if (delay === undefined) {
      store.deliveries.fail(id, clock.now(), reason, number);
      return { type: 'ended' as const, outcome: 'exhausted' as const };
    }
    const dueAt = clock.now() + delay;
    store.deliveries.postpone(id, { attempts: number, repeats, dueAt, error: reason });
    return { type: 'scheduled' as const, reason: 'retry' as const, dueAt };
  }

  /** Gives up the deliveries that were stored before a silence that lasts too long. */
  function noteSilence(webhookId: string): void {
    const silence = silences.get(webhookId);
    if (silence !== undefined && clock.now() - silence.since < SILENCE_MS) return;
    const count = silence === undefined ? 0 : store.deliveries.giveUp(webhookId, silence.newest, clock.now());
    if (count > 0) log.error({ webhookId, count }, 'the receiver does not respond: its oldest deliveries are given up');
    silences.set(webhookId, { since: clock.now(), newest: store.deliveries.newestId() });
  }

  return {
    /** Stores the outcome of an attempt and returns it. @throws when the database cannot be written. */
    apply(delivery: Delivery, number: number, result: PostResult) {
      const outcome = outcomeOf(delivery, number, result);
      if (result.status === 200) silences.delete(delivery.webhookId);
      else noteSilence(delivery.webhookId);
      return outcome;
    },

    /** Nothing is due for the webhook now, so its silence ends. */
    hasNothingDue: (webhookId: string) => void silences.delete(webhookId),
  };
}
