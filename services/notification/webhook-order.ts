import { MINUTE } from '../../src/domain/clock.ts';
import type { Breaker } from './breaker.ts';
import { createDueQueue } from './due-queue.ts';
import type { NotificationStore } from './store/index.ts';
import type { Delivery } from './store/outbox.ts';
import type { Faults } from './types.ts';

/** How often a webhook of a removed project is looked at again. */
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

/** Decides whose delivery is sent next. */
export type WebhookOrder = ReturnType<typeof createWebhookOrder>;

/** Creates the order: webhooks take turns, and each has no more deliveries under way than it allows. */
export function createWebhookOrder({ store, breaker, random, faults, isServed, onNothingDue }: WebhookOrderParts) {
  const { deliveries } = store;
  const due = createDueQueue();
  const underWay = new Map<string, Set<number>>();
  /** Webhooks to be served, in this order, each once. */
  const ready = new Set<string>();

  /** Returns a webhook's next delivery if it may be sent now. */
  function take(webhookId: string, now: number): NextDelivery | undefined {
    const sending = [...(underWay.get(webhookId) ?? [])];
    const skip = faults().reorder ? Math.floor(random() * deliveries.countDue(webhookId, now)) : 0;
    const delivery = deliveries.nextDue(webhookId, now, { skip, except: sending });
    if (delivery === undefined) {
      if (sending.length === 0) sleep(webhookId);
      return undefined;
    }
    if (sending.length >= delivery.parallel) return undefined;
    const { origin } = new URL(delivery.url);
    const waitsUntil = isServed(delivery.projectId) ? breaker.openUntil(origin) : now + REMOVED_MS;
    if (waitsUntil <= now) return { delivery, origin };
    due.add(webhookId, waitsUntil);
    return undefined;
  }

  /** Puts a webhook without due deliveries back into the queue. */
  function sleep(webhookId: string): void {
    onNothingDue(webhookId);
    const nextAt = deliveries.nextDueAt(webhookId);
    if (nextAt !== undefined) due.add(webhookId, nextAt);
  }

  /** Counts a delivery as under way. Its webhook's next one comes after those of other webhooks. */
  function begin({ delivery: { id, webhookId, parallel }, origin }: NextDelivery): void {
    breaker.begin(origin);
    const sending = underWay.get(webhookId) ?? new Set<number>();
    underWay.set(webhookId, sending.add(id));
    if (sending.size < parallel) ready.add(webhookId);
  }

  return {
    /** Reads when each webhook is due. @throws when the database cannot be read. */
    load(): void {
      for (const { webhookId, dueAt } of deliveries.dueWebhooks()) due.add(webhookId, dueAt);
    },
    /** Call when a webhook has something due, at this time. */
    add: due.add,
    /** When the next webhook is due. */
    nextAt: due.nextAt,
    /** Queues the webhooks that are due. */
    collect(now: number): void {
      for (let id = due.take(now); id !== undefined; id = due.take(now)) ready.add(id);
    },
    /** Returns the next delivery, if there is one; it counts as under way. @throws when the database cannot be read. */
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
    /** Call when a delivery is no longer under way: its webhook may have another one. */
    ended({ delivery: { id, webhookId } }: NextDelivery): void {
      const sending = underWay.get(webhookId);
      sending?.delete(id);
      if (sending?.size === 0) underWay.delete(webhookId);
      ready.add(webhookId);
    },
  };
}
