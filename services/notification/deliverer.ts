import type { Logger } from 'pino';
import { type Clock, SECOND } from '../../src/domain/clock.ts';
import { createAttempt } from './attempt.ts';
import { createBreaker } from './breaker.ts';
import { createOutcomes } from './outcomes.ts';
import { createPost } from './post.ts';
import type { Reach } from './reach.ts';
import type { NotificationStore } from './store/index.ts';
import type { DeliveryProgress, Faults } from './types.ts';
import { createWebhookOrder, type NextDelivery, type WebhookOrder } from './webhook-order.ts';

/** Pause after a database failure. */
const REST_MS = 5 * SECOND;
/** How many attempts are made at the same time. */
const MAX_PARALLEL = 256;

/** Dependencies of the deliverer. */
export interface DelivererOptions {
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
  /** Call when webhooks have new deliveries, due at these times. */
  expect(due: readonly { webhookId: string; dueAt: number }[]): void;
  /** Call when deliveries became due in another way, or the faults changed: looks at everything stored again. */
  nudge(): void;
  /** Sends everything that waits for a retry or a repetition now. */
  deliverNow(): void;
  /** Receivers that are paused because they do not respond. */
  paused(): string[];
  /** Finishes the attempts under way; the rest stays on disk. */
  stop(): Promise<void>;
}

/** Creates the deliverer. */
export function createDeliverer(options: DelivererOptions): Deliverer {
  const { store, clock, log, faults } = options;
  const agent = options.reach.agent();
  const outcomes = createOutcomes(options);
  const breaker = createBreaker(clock);
  const order = createWebhookOrder({ ...options, breaker, onNothingDue: outcomes.hasNothingDue });
  const due = createRestingOrder(order, { clock, log });
  const attempt = createAttempt({
    ...options,
    breaker,
    outcomes,
    post: createPost(options, agent),
    onStoreError: due.rest,
  });
  const attempts = new Set<Promise<void>>();
  let cancel = () => {};
  let isStopping = false;

  /** Starts attempts up to the limit and sets the timer for the next due one. */
  function pump(): void {
    cancel();
    cancel = () => {};
    if (isStopping || faults().paused) return;
    const now = clock.now();
    due.collect(now);
    while (attempts.size < MAX_PARALLEL) {
      const next = due.next(now);
      if (next === undefined) break;
      start(next);
    }
    const nextAt = due.nextAt();
    if (nextAt !== undefined) cancel = clock.after(Math.max(0, nextAt - now), pump);
  }

  function start(next: NextDelivery): void {
    const made: Promise<void> = attempt(next).finally(() => {
      attempts.delete(made);
      order.ended(next);
      pump();
    });
    attempts.add(made);
  }

  function nudge(): void {
    if (isStopping) return;
    due.load();
    pump();
  }

  return {
    start() {
      order.load();
      pump();
    },
    expect(found) {
      for (const { webhookId, dueAt } of found) order.add(webhookId, dueAt);
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

/** The order of webhooks, which comes from the database: after a failure it rests and then reads everything again. */
function createRestingOrder(order: WebhookOrder, { clock, log }: Pick<DelivererOptions, 'clock' | 'log'>) {
  let restUntil = 0;
  let mustLoad = false;

  function rest(error: unknown): void {
    log.error({ err: error }, `cannot read or store deliveries: retrying in ${REST_MS} ms`);
    restUntil = clock.now() + REST_MS;
    mustLoad = true;
  }

  function tried<Result>(step: () => Result): Result | undefined {
    try {
      return step();
    } catch (error) {
      rest(error);
      return undefined;
    }
  }

  const isResting = () => clock.now() < restUntil;

  return {
    rest,
    /** Reads everything that is stored. */
    load(): void {
      tried(order.load);
    },
    /** Looks for what has become due. */
    collect(now: number): void {
      if (isResting()) return;
      tried(() => {
        if (mustLoad) order.load();
        mustLoad = false;
        order.collect(now);
      });
    },
    /** The next delivery that is due; undefined without one, and during the rest. */
    next: (now: number): NextDelivery | undefined => (isResting() ? undefined : tried(() => order.next(now))),
    /** When the next delivery is due, or the rest ends. */
    nextAt: (): number | undefined => (isResting() ? restUntil : order.nextAt()),
  };
}
