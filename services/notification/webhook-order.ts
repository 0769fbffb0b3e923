import { backOff, type Clock, MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { Parts } from './parts.ts';
import type { Delivery } from './store/outbox.ts';

const REMOVED_MS = MINUTE;
/** Timeouts in a row before a receiver is paused. */
const FAILURES = 5;
const PAUSES = { base: 5 * SECOND, max: MINUTE };

export interface NextDelivery {
  delivery: Delivery;
  origin: string;
}

export function createWebhookOrder(
  { store: { deliveries }, faults, isServed }: Parts,
  breaker: ReturnType<typeof createBreaker>,
  onNothingDue: (webhookId: string) => void,
) {
  /** Only webhooks that are not ready. */
  const due = new Map<string, number>();
  let nextAt = Number.POSITIVE_INFINITY;
  /** In the order of their turns. */
  const ready = new Set<string>();
  const underWay = new Map<string, Set<number>>();

  function add(webhookId: string, dueAt: number): void {
    due.set(webhookId, Math.min(dueAt, due.get(webhookId) ?? dueAt));
    nextAt = Math.min(nextAt, dueAt);
  }

  function take(webhookId: string, now: number): NextDelivery | undefined {
    const sending = [...(underWay.get(webhookId) ?? [])];
    const skip = faults().reorder ? Math.floor(Math.random() * deliveries.countDue(webhookId, now)) : 0;
    const delivery = deliveries.nextDue(webhookId, now, skip, sending);
    if (delivery === undefined) {
      if (sending.length === 0) sleep(webhookId);
      return undefined;
    }
    if (sending.length >= delivery.parallel) return undefined;
    const { origin } = new URL(delivery.url);
    const waitsUntil = isServed(delivery.projectId) ? breaker.openUntil(origin) : now + REMOVED_MS;
    if (waitsUntil <= now) return { delivery, origin };
    add(webhookId, waitsUntil);
    return undefined;
  }

  function sleep(webhookId: string): void {
    onNothingDue(webhookId);
    const dueAt = deliveries.nextDueAt(webhookId);
    if (dueAt !== undefined) add(webhookId, dueAt);
  }

  /** The webhook's next delivery comes after those of other webhooks. */
  function begin({ delivery: { id, webhookId, parallel }, origin }: NextDelivery): void {
    breaker.begin(origin);
    const sending = underWay.get(webhookId) ?? new Set<number>();
    underWay.set(webhookId, sending.add(id));
    if (sending.size < parallel) ready.add(webhookId);
  }

  return {
    /** @throws when the database cannot be read. */
    load(): void {
      for (const { webhookId, dueAt } of deliveries.dueWebhooks()) add(webhookId, dueAt);
    },
    add,
    nextAt: () => nextAt,
    /** The delivery counts as under way. @throws when the database cannot be read. */
    next(now: number): NextDelivery | undefined {
      if (nextAt <= now) collect(now);
      for (const webhookId of ready) {
        ready.delete(webhookId);
        const next = take(webhookId, now);
        if (next === undefined) continue;
        begin(next);
        return next;
      }
      return undefined;
    },
    ended({ delivery: { id, webhookId } }: NextDelivery): void {
      const sending = underWay.get(webhookId);
      sending?.delete(id);
      if (sending?.size === 0) underWay.delete(webhookId);
      ready.add(webhookId);
    },
  };

  function collect(now: number): void {
    const found: [id: string, dueAt: number][] = [];
    nextAt = Number.POSITIVE_INFINITY;
    for (const entry of due) {
      if (entry[1] <= now) found.push(entry);
      else nextAt = Math.min(nextAt, entry[1]);
    }
    for (const [id] of found.sort((a, b) => a[1] - b[1])) {
      due.delete(id);
      ready.add(id);
    }
  }
}

/** A circuit breaker: pauses receivers, by origin, that let attempts time out, because each attempt occupies a slot. */
export function createBreaker(clock: Clock) {
  const states = new Map<string, { failures: number; until: number; isProbing: boolean }>();
  return {
    /** 0: now. While the receiver is paused, one attempt at a time probes it. */
    openUntil(origin: string): number {
      const state = states.get(origin);
      if (state === undefined || state.failures < FAILURES) return 0;
      if (state.isProbing) return clock.now() + SECOND;
      return state.until > clock.now() ? state.until : 0;
    },
    begin(origin: string): void {
      const state = states.get(origin);
      if (state !== undefined && state.failures >= FAILURES) state.isProbing = true;
    },
    /** A refused connection is not a timeout. */
    end(origin: string, isTimedOut: boolean): void {
      if (!isTimedOut) {
        states.delete(origin);
        return;
      }
      const failures = (states.get(origin)?.failures ?? 0) + 1;
      const wait = backOff(Math.max(0, failures - FAILURES), PAUSES);
      states.set(origin, { failures, until: clock.now() + wait, isProbing: false });
    },
    reset: () => states.clear(),
    open: () => [...states].flatMap(([origin, { failures }]) => (failures >= FAILURES ? [origin] : [])),
  };
}
