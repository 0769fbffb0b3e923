import { MINUTE } from '../../src/domain/clock.ts';
import type { Breaker } from './breaker.ts';
import { createDueQueue } from './due-queue.ts';
import type { NotificationStore } from './store/index.ts';
import type { Delivery } from './store/outbox.ts';
import type { Faults } from './types.ts';

/** How often deliveries of a removed project are checked again. */
const REMOVED_MS = MINUTE;

/** The delivery to be sent next, and the origin of its receiver. */
export interface NextDelivery {
  delivery: Delivery;
  origin: string;
}

/** Dependencies of {@link createWebhookOrder}. */
interface WebhookOrderParts {
  store: NotificationStore;
  breaker: Breaker;
  /** A number in [0, 1). */
  random: () => number;
  faults: () => Faults;
  isServed: (projectId: string) => boolean;
  onNothingDue: (webhookId: string) => void;
}

/** The order in which webhooks with due deliveries are served. */
export type WebhookOrder = ReturnType<typeof createWebhookOrder>;

/** Decides which webhook is served next: they take turns, and each has no more deliveries under way than it allows. */
export function createWebhookOrder({ store, breaker, random, faults, isServed, onNothingDue }: WebhookOrderParts) {
  const { deliveries } = store;
  const due = createDueQueue();
  const underWay = new Map<string, Set<number>>();
  /** Webhooks to be served, in this order, each once. */
  const ready = new Set<string>();

  /** Returns a webhook's next delivery if it may be sent now. */
  function take(webhookId: string, now: number): NextDelivery | undefined {
    const under = [...(underWay.get(webhookId) ?? [])];
    const skip = faults().reorder ? Math.floor(random() * deliveries.countDue(webhookId, now)) : 0;
    const delivery = deliveries.nextDue(webhookId, now, { skip, under });
    if (delivery === undefined) {
      if (under.length === 0) sleep(webhookId);
      return undefined;
    }
    if (under.length >= delivery.parallel) return undefined;
    const { origin } = new URL(delivery.url);
    const waitsUntil = isServed(delivery.projectId) ? breaker.openUntil(origin) : now + REMOVED_MS;
    if (waitsUntil <= now) return { delivery, origin };
    due.add(webhookId, waitsUntil);
    return undefined;
  }

  function sleep(webhookId: string): void {
    onNothingDue(webhookId);
    const nextAt = deliveries.nextDueAt(webhookId);
    if (nextAt !== undefined) due.add(webhookId, nextAt);
  }

  /** The webhook's next delivery comes after those of other webhooks. */
  function begin({ delivery: { id, webhookId, parallel }, origin }: NextDelivery): void {
    breaker.begin(origin);
    const under = underWay.get(webhookId) ?? new Set<number>();
    underWay.set(webhookId, under.add(id));
    if (under.size < parallel) ready.add(webhookId);
  }

  return {
    /** Reads when each webhook is due. @throws when the database cannot be read. */
    load(): void {
      for (const { webhookId, dueAt } of deliveries.dueWebhooks()) due.add(webhookId, dueAt);
    },
    /** A webhook has something due then. */
    add: due.add,
    /** When the next webhook is due. */
    nextAt: due.nextAt,
    /** Queues the webhooks that are due. */
    collect(now: number): void {
      for (let id = due.take(now); id !== undefined; id = due.take(now)) ready.add(id);
    },
    /** Begins the next delivery, if there is one. @throws when the database cannot be read. */
    next(now: number): NextDelivery | undefined {
      for (const webhookId of ready) {
        ready.delete(webhookId);
        const next = take(webhookId, now);
        if (next === undefined) continue;
        begin(next);
        return next;
      }
      return undefined;
    },
    /** A delivery is no longer under way; its webhook may have another one. */
    ended({ delivery: { id, webhookId } }: NextDelivery): void {
      const under = underWay.get(webhookId);
      under?.delete(id);
      if (under?.size === 0) underWay.delete(webhookId);
      ready.add(webhookId);
    },
  };
}
