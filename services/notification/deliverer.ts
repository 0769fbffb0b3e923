import type { Logger } from 'pino';
import { type Clock, SECOND } from '../../src/domain/clock.ts';
import { createAnswers } from './answers.ts';
import { createAttempt } from './attempt.ts';
import { createBreaker } from './breaker.ts';
import { createCommits } from './commits.ts';
import { createPost } from './post.ts';
import type { Reach } from './reach.ts';
import type { NotificationStore } from './store/index.ts';
import type { DeliveryProgress, Faults } from './types.ts';
import { createWebhookTurns, type Turn } from './webhook-turns.ts';

/** Pause after a database failure. */
const REST_MS = 5 * SECOND;
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
  const { store, clock, log, faults } = parts;
  const agent = parts.reach.agent();
  const answers = createAnswers(parts);
  const breaker = createBreaker(clock);
  const turns = createWebhookTurns({ ...parts, breaker, onNothingDue: answers.hasNothingDue });
  const attempt = createAttempt({
    ...parts,
    ...createCommits(store),
    breaker,
    answers,
    post: createPost(parts, agent),
    onStoreError: rest,
  });
  const attempts = new Set<Promise<void>>();
  let cancel = () => {};
  let isStopping = false;
  let restUntil = 0;
  let mustLoad = false;

  /** Starts attempts up to the limit and sets the timer for the next due one. */
  function pump(): void {
    cancel();
    cancel = () => {};
    if (isStopping || faults().paused) return;
    const now = clock.now();
    if (now >= restUntil) startDue(now);
    const nextAt = clock.now() < restUntil ? restUntil : turns.nextAt();
    if (nextAt !== undefined) cancel = clock.after(Math.max(0, nextAt - now), pump);
  }

  function startDue(now: number): void {
    try {
      if (mustLoad) turns.load();
      mustLoad = false;
      turns.collect(now);
      while (attempts.size < MAX_PARALLEL) {
        const turn = turns.next(now);
        if (turn === undefined) return;
        start(turn);
      }
    } catch (error) {
      rest(error);
    }
  }

  function start(turn: Turn): void {
    const made: Promise<void> = attempt(turn).finally(() => {
      attempts.delete(made);
      turns.ended(turn);
      pump();
    });
    attempts.add(made);
  }

  function rest(error: unknown): void {
    log.error({ err: error }, `cannot read or store deliveries: retrying in ${REST_MS} ms`);
    restUntil = clock.now() + REST_MS;
    mustLoad = true;
  }

  function nudge(): void {
    if (isStopping) return;
    try {
      turns.load();
    } catch (error) {
      rest(error);
    }
    pump();
  }

  return {
    start() {
      turns.load();
      pump();
    },
    expect(found) {
      for (const { webhookId, dueAt } of found) turns.add(webhookId, dueAt);
      pump();
    },
    nudge,
    deliverNow() {
      breaker.reset();
      store.deliveries.hasten(clock.now());
      nudge();
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
