import type { Logger } from 'pino';
import { type Clock, MINUTE, SECOND } from '../../src/domain/clock.ts';
import { createAnswers } from './answers.ts';
import { createBreaker } from './breaker.ts';
import { createDueQueue } from './due-queue.ts';
import { createPost } from './post.ts';
import type { Reach } from './reach.ts';
import type { NotificationStore } from './store/index.ts';
import type { Delivery } from './store/outbox.ts';
import type { DeliveryProgress, DeliveryRef, Faults } from './types.ts';

/** Pause after a database failure. */
const REST_MS = 5 * SECOND;
/** How often deliveries of a removed project are checked again. */
const REMOVED_MS = MINUTE;
/** How many attempts are made at the same time. */
const MAX_PARALLEL = 256;
/** Dependencies of the deliverer. */
export interface DelivererParts {
  store: NotificationStore;
  clock: Clock;
  log: Logger;
  reach: Reach;
  /** A number in [0, 1). */
  random: () => number;
  faults: () => Faults;
  secretsOf: (projectId: string) => readonly string[];
  /** Whether a project still exists. Nothing is sent for a removed project. */
  isServed: (projectId: string) => boolean;
  onProgress: (progress: DeliveryProgress) => void;
  /** Called after each attempt with its HTTP status, or `none`. */
  onAttempt(result: string): void;
}

/** Sends due deliveries: webhooks take turns, and each gets its newest first. */
export interface Deliverer {
  /** Begins. @throws when the database cannot be read. */
  start(): void;
  /** These webhooks have new deliveries, due at these times. */
  expect(due: readonly { webhookId: string; dueAt: number }[]): void;
  /** Looks again at everything stored: deliveries became due in another way, or the faults changed. */
  nudge(): void;
  /** Sends everything that waits for a retry or a repetition now. */
  deliverNow(): void;
  /** Receivers that do not answer and are paused. */
  paused(): string[];
  /** Finishes the attempts under way; the rest stays on disk. */
  stop(): Promise<void>;
}

/** Creates the deliverer. */
export function createDeliverer(parts: DelivererParts): Deliverer {
  const { store, clock, log, random, faults, onProgress } = parts;
  const agent = parts.reach.agent();
  const post = createPost(parts, agent);
  const answers = createAnswers(parts);
  const due = createDueQueue();
  const breaker = createBreaker(clock);
  const underWay = new Map<string, Set<number>>();
  /** Webhooks whose turn it is, each once. */
  const ready = new Set<string>();
  const attempts = new Set<Promise<void>>();
  let cancel = () => {};
  let isStopping = false;
  let restUntil = 0;
  let mustLoad = false;

  const load = (): void => {
    for (const { webhookId, dueAt } of store.deliveries.dueWebhooks()) due.add(webhookId, dueAt);
  };

  /** Starts attempts up to the limit and sets the timer for the next due one. */
  const pump = (): void => {
    cancel();
    cancel = () => {};
    if (isStopping || faults().paused) return;
    const now = clock.now();
    if (now >= restUntil) {
      try {
        if (mustLoad) load();
        mustLoad = false;
        for (let id = due.take(now); id !== undefined; id = due.take(now)) ready.add(id);
        while (attempts.size < MAX_PARALLEL && ready.size > 0) serve(ready.values().next().value!, now);
      } catch (error) {
        rest(error);
      }
    }
    const nextAt = clock.now() < restUntil ? restUntil : due.nextAt();
    if (nextAt !== undefined) cancel = clock.after(Math.max(0, nextAt - now), pump);
  };

  /** Starts one attempt for a webhook; its next one comes after the other webhooks. */
  const serve = (webhookId: string, now: number): void => {
    ready.delete(webhookId);
    const under = underWay.get(webhookId) ?? new Set<number>();
    const skip = faults().reorder ? Math.floor(random() * store.deliveries.countDue(webhookId, now)) : 0;
    const delivery = store.deliveries.nextDue(webhookId, now, { skip, under: [...under] });
    if (delivery === undefined) {
      if (under.size > 0) return;
      answers.hasNothingDue(webhookId);
      const nextAt = store.deliveries.nextDueAt(webhookId);
      if (nextAt !== undefined) due.add(webhookId, nextAt);
      return;
    }
    if (under.size >= delivery.parallel) return;
    if (!parts.isServed(delivery.projectId)) {
      due.add(webhookId, now + REMOVED_MS);
      return;
    }
    const origin = new URL(delivery.url).origin;
    const openUntil = breaker.openUntil(origin);
    if (openUntil > now) {
      due.add(webhookId, openUntil);
      return;
    }
    breaker.begin(origin);
    under.add(delivery.id);
    underWay.set(webhookId, under);
    if (under.size < delivery.parallel) ready.add(webhookId);
    const made: Promise<void> = attempt(delivery, origin).finally(() => {
      attempts.delete(made);
      under.delete(delivery.id);
      if (under.size === 0) underWay.delete(webhookId);
      ready.add(webhookId);
      pump();
    });
    attempts.add(made);
  };

  const attempt = async (delivery: Delivery, origin: string): Promise<void> => {
    const { id: deliveryId, webhookId, projectId, txHash, blockNumber } = delivery;
    const ref = (): DeliveryRef => ({ deliveryId, webhookId, projectId, txHash, blockNumber, at: clock.now() });
    const number = delivery.attempts + 1;
    onProgress({ ...ref(), type: 'attempted', attempt: number });
    const answer = await post(delivery, number);
    breaker.end(origin, answer.isTimedOut === true);
    parts.onAttempt(answer.status === null ? 'none' : String(answer.status));
    const { isTimedOut: _, ...reply } = answer;
    log.info({ deliveryId, webhookId, txHash, attempt: number, ...reply }, 'delivery attempted');
    try {
      const outcome = answers.apply(delivery, number, answer);
      onProgress({ ...ref(), type: 'answered', attempt: number, ...reply });
      onProgress({ ...ref(), ...outcome });
    } catch (error) {
      rest(error);
    }
  };

  const rest = (error: unknown): void => {
    log.error({ err: error }, `cannot read or store deliveries: retrying in ${REST_MS} ms`);
    restUntil = clock.now() + REST_MS;
    mustLoad = true;
  };

  return {
    start() {
      load();
      pump();
    },
    expect(found) {
      for (const { webhookId, dueAt } of found) due.add(webhookId, dueAt);
      pump();
    },
    nudge() {
      if (isStopping) return;
      try {
        load();
      } catch (error) {
        rest(error);
      }
      pump();
    },
    deliverNow() {
      breaker.reset();
      store.deliveries.hasten(clock.now());
      this.nudge();
    },
    paused: () => breaker.open(),
    async stop() {
      isStopping = true;
      cancel();
      await Promise.all(attempts);
      await agent.destroy();
    },
  };
}
