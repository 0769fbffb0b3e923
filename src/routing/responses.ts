import { SECOND } from '../domain/clock.ts';
import type { InboxRow } from '../domain/inbox.ts';
import type { Store } from '../store/store.ts';

/**
 * A response that another process has not recorded for this long was never written completely, as far as will be known:
 * that process was killed. A response takes two seconds at most.
 */
const LOST_MS = 5 * SECOND;

/** Knows how the responses to deliveries ended. */
export type Responses = ReturnType<typeof watchResponses>;

/** What this process knows about the responses to deliveries that it received. */
interface OwnResponses {
  has(id: number): boolean;
  ackedAt(id: number): number | null | undefined;
  /** Resolves once it knows of every delivery that the inbox shows now. */
  tracked(): Promise<void>;
  forget(ids: readonly number[]): void;
}

/**
 * Knows how the responses to all deliveries ended: to those of other processes from the rows that were read. `elapsed`:
 * milliseconds that really passed.
 */
export function watchResponses({ inbox }: Pick<Store, 'inbox'>, own: OwnResponses, elapsed: () => number) {
  /** Since when each was seen to be open: clocks of machines disagree. */
  const openSince = new Map<number, number>();
  /** Deliveries of this process whose row was read while it was open: it does not show how the response ended. */
  const readEarly = new Set<number>();

  function note({ id, isOpen }: InboxRow): void {
    const isOwn = own.has(id);
    if (isOpen && isOwn) readEarly.add(id);
    else readEarly.delete(id);
    if (!isOpen || isOwn) openSince.delete(id);
    else if (!openSince.has(id)) openSince.set(id, elapsed());
  }

  return {
    /** The inbox, as the router reads it. */
    async next(limit: number, bytes?: number, scope?: number): Promise<InboxRow[]> {
      const rows = await inbox.next(limit, bytes, scope);
      // A delivery may be read before the receiver knows that it is stored.
      await own.tracked();
      // Nobody forgets the deliveries of a commit that was stored, although it failed. They are no longer in the inbox.
      if (rows.length === 0 && scope === undefined) {
        openSince.clear();
        readEarly.clear();
      }
      for (const row of rows) note(row);
      return rows;
    },
    /** When a delivery's 200 was written completely; null: never, or its row knows; undefined: it is pending, or its row is to be read again. */
    ackedAt(id: number): number | null | undefined {
      if (own.has(id)) return own.ackedAt(id);
      // How it ended was recorded since. That wakes the router, or the next poll does, and the row is read again.
      if (readEarly.has(id)) return undefined;
      const since = openSince.get(id);
      return since === undefined || elapsed() - since >= LOST_MS ? null : undefined;
    },
    /** Forgets deliveries that were routed. */
    forget(ids: readonly number[]): void {
      own.forget(ids);
      for (const id of ids) {
        openSince.delete(id);
        readEarly.delete(id);
      }
    },
  };
}
