import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { Egress } from './egress.ts';
import type { Parts } from './parts.ts';
import { type PostResult, post } from './post.ts';
import type { Delivery } from './store/outbox.ts';
import type { DeliveryProgress, DeliveryRef } from './types.ts';
import { createBreaker, createWebhookOrder, type NextDelivery } from './webhook-order.ts';

const REST_MS = 5 * SECOND;
const MAX_PARALLEL = 256;

const RETRY_DELAYS_MS: readonly number[] = [15 * SECOND, MINUTE, 10 * MINUTE, HOUR, DAY, DAY];
/** Twice the schedule. Where every attempt times out, some deliveries never get one: these are given up then. */
const SILENCE_MS = 2 * RETRY_DELAYS_MS.reduce((sum, delay) => sum + delay);

/** Webhooks take turns, and each gets its newest first. */
export function createDeliverer(parts: Parts, egress: Egress, report: (progress: DeliveryProgress) => void) {
  const { store, clock, log, faults } = parts;
  const agent = egress.agent();
  const outcomes = createOutcomes(parts);
  const breaker = createBreaker(clock);
  const order = createWebhookOrder(parts, breaker, outcomes.hasNothingDue);
  const attempts = new Set<Promise<void>>();
  let cancel = () => {};
  let isStopping = false;
  let restUntil = 0;
  let mustLoad = false;

  function pump(): void {
    cancel();
    cancel = () => {};
    if (isStopping || faults().paused) return;
    const now = clock.now();
    const nextAt = now < restUntil ? restUntil : startDue(now);
    if (Number.isFinite(nextAt)) cancel = clock.after(Math.max(0, nextAt - now), pump);
  }

  function startDue(now: number): number {
    try {
      if (mustLoad) order.load();
      mustLoad = false;
      while (attempts.size < MAX_PARALLEL) {
        const next = order.next(now);
        if (next === undefined) break;
        start(next);
      }
      return order.nextAt();
    } catch (error) {
      rest(error);
      return restUntil;
    }
  }

  function rest(error: unknown): void {
    log.error({ err: error }, `cannot read or store deliveries: retrying in ${REST_MS} ms`);
    restUntil = clock.now() + REST_MS;
    mustLoad = true;
  }

  function start(next: NextDelivery): void {
    const made: Promise<void> = attempt(next).finally(() => {
      attempts.delete(made);
      order.ended(next);
      pump();
    });
    attempts.add(made);
  }

  async function attempt({ delivery, origin }: NextDelivery): Promise<void> {
    const { id: deliveryId, webhookId, projectId, txHash, blockNumber } = delivery;
    const ref = (): DeliveryRef => ({ deliveryId, webhookId, projectId, txHash, blockNumber, at: clock.now() });
    const number = delivery.attempts + 1;
    report({ ...ref(), type: 'attempted', attempt: number });
    const result = await post(parts, agent, delivery, number);
    const { isTimedOut = false, ...reply } = result;
    breaker.end(origin, isTimedOut);
    parts.onAttempt(reply.status === null ? 'none' : String(reply.status));
    log.info({ deliveryId, webhookId, txHash, attempt: number, ...reply }, 'delivery attempted');
    try {
      const outcome = await store.commit(() => outcomes.apply(delivery, number, result));
      report({ ...ref(), type: 'answered', attempt: number, ...reply });
      report({ ...ref(), ...outcome });
    } catch (error) {
      rest(error);
    }
  }

  /** Call when deliveries became due in another way, or the faults changed. */
  function nudge(): void {
    mustLoad = true;
    pump();
  }

  return {
    /** @throws when the database cannot be read. */
    start(): void {
      order.load();
      pump();
    },
    expect(due: readonly { webhookId: string; dueAt: number }[]): void {
      for (const { webhookId, dueAt } of due) order.add(webhookId, dueAt);
      pump();
    },
    nudge,
    deliverNow(): void {
      breaker.reset();
      store.deliveries.hasten(clock.now());
      nudge();
    },
    paused: breaker.open,
    async stop(): Promise<void> {
      isStopping = true;
      cancel();
      await Promise.all(attempts);
      await agent.destroy();
    },
  };
}

function createOutcomes({ store, clock, log, faults }: Parts) {
  /** Each webhook's row of failed attempts: when it began, and the newest delivery at that time. */
  const silences = new Map<string, { since: number; newest: number }>();

  function outcomeOf({ id, repeats }: Delivery, number: number, { status, error: noResponse }: PostResult) {
    const { repeat, repeatAfterMs } = faults();
    if (status === 200 && repeats < repeat) {
      const dueAt = clock.now() + repeatAfterMs;
      store.deliveries.postpone(id, { attempts: 0, repeats: repeats + 1, dueAt, error: null });
      return { type: 'scheduled' as const, reason: 'repeat' as const, dueAt };
    }
    if (status === 200) {
      store.deliveries.deliver(id, clock.now());
      return { type: 'ended' as const, outcome: 'delivered' as const };
    }
    const error = noResponse ?? `HTTP ${status}`;
    const delay = RETRY_DELAYS_MS[number - 1];
    if (delay === undefined) {
      store.deliveries.fail(id, clock.now(), error, number);
      return { type: 'ended' as const, outcome: 'exhausted' as const };
    }
    const dueAt = clock.now() + delay;
    store.deliveries.postpone(id, { attempts: number, repeats, dueAt, error });
    return { type: 'scheduled' as const, reason: 'retry' as const, dueAt };
  }

  function noteSilence(webhookId: string): void {
    const silence = silences.get(webhookId);
    if (silence !== undefined && clock.now() - silence.since < SILENCE_MS) return;
    const count = silence === undefined ? 0 : store.deliveries.giveUp(webhookId, silence.newest, clock.now());
    if (count > 0) log.error({ webhookId, count }, 'the receiver does not respond: its oldest deliveries are given up');
    silences.set(webhookId, { since: clock.now(), newest: store.deliveries.newestId() });
  }

  return {
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
