import type { DeliveryIdentity } from '../domain/inbox.ts';
import type { PendingResponse } from './acks.ts';

/**
 * Limits on slow requests. Once there are MAX_SLOW, a URL that has OWN_SLOW of them refuses more; at MAX_SLOW_IN_TOTAL,
 * every URL does. So endless bodies at one guild's URL do not block the others.
 */
const MAX_SLOW = 64;
const OWN_SLOW = 16;
const MAX_SLOW_IN_TOTAL = 128;
/** A request that is open for this long counts as slow. A burst that is committed at once is not an overload. */
const SLOW_MS = 100;
/** The same once its body is complete: then it waits for the disk, with all others of its commit. */
const SLOW_TO_STORE_MS = 1_000;

/**
 * The receiver is busy while this many requests are open, and for this long after, because one commit completes many at
 * once. Fewer are open at a constant rate of thousands per second, which leaves enough time for routing.
 */
const BUSY_REQUESTS = 64;
const BUSY_MS = 25;

/** One request on its way through the receiver. */
export interface Ticket extends PendingResponse {
  arrivedAt: number;
  scope: number;
  /** The delivery's identity in its verified headers; null until they are verified. */
  identity: DeliveryIdentity | null;
  /** Its body is complete. */
  isComplete: boolean;
  /** The inbox row; null until the body is stored. */
  id: number | null;
}

/** Which requests are open. */
export type Admission = ReturnType<typeof createAdmission>;

/** Decides which requests are accepted, by how many are open. */
export function createAdmission(now: () => number) {
  /** In the order of arrival. */
  const open = new Set<Ticket>();
  let busyAt = Number.NEGATIVE_INFINITY;

  function isOverloaded(at: number, scope: number): boolean {
    let slow = 0;
    let own = 0;
    for (const ticket of open) {
      const age = at - ticket.arrivedAt;
      if (age < SLOW_MS) break;
      if (ticket.isComplete && age < SLOW_TO_STORE_MS) continue;
      slow++;
      if (ticket.scope === scope) own++;
    }
    return slow >= MAX_SLOW_IN_TOTAL || (slow >= MAX_SLOW && own >= OWN_SLOW);
  }

  return {
    /** Opens a ticket; null when too many requests are open. */
    open(scope: number): Ticket | null {
      const arrivedAt = now();
      if (isOverloaded(arrivedAt, scope)) return null;
      const ticket: Ticket = {
        arrivedAt,
        scope,
        identity: null,
        isComplete: false,
        id: null,
        isOver: false,
        ackedAt: null,
      };
      open.add(ticket);
      if (open.size >= BUSY_REQUESTS) busyAt = arrivedAt;
      return ticket;
    },
    close(ticket: Ticket): void {
      open.delete(ticket);
    },
    size: (): number => open.size,
    /** Whether the receiver is so busy that other work should wait. */
    isBusy: (): boolean => open.size >= BUSY_REQUESTS || Math.abs(now() - busyAt) < BUSY_MS,
  };
}
