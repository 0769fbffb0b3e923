import { SECOND } from '../domain/clock.ts';
import type { InboxRow } from '../domain/inbox.ts';
import type { Store } from '../store/store.ts';

/**
 * A response that another process has not recorded for this long was never written completely, as far as will be known:
 * that process was killed. A response takes two seconds at most.
 */
const LOST_MS = 5 * SECOND;

/**
 * Knows how the responses to other processes' deliveries ended, from the rows that were read. `own` knows about those that
 * this process received; `elapsed`: milliseconds that really passed.
 */
export function watchOpenResponses(
  { inbox }: Pick<Store, 'inbox'>,
  own: { has(id: number): boolean; ackedAt(id: number): number | null | undefined },
  elapsed: () => number,
) {
  /** Since when each was seen to be open: clocks of machines disagree. */
  const openSince = new Map<number, number>();

  function note({ id, isOpen }: InboxRow): void {
    if (!isOpen || own.has(id)) openSince.delete(id);
    else if (!openSince.has(id)) openSince.set(id, elapsed());
  }

  return {
    /** The inbox, as the router reads it. */
    async next(...args: Parameters<Store['inbox']['next']>): Promise<InboxRow[]> {
      const rows = await inbox.next(...args);
      for (const row of rows) note(row);
      return rows;
    },
    /** When a delivery's 200 was written completely; null: never, or its row knows; undefined: it is still pending. */
    ackedAt(id: number): number | null | undefined {
      if (own.has(id)) return own.ackedAt(id);
      const since = openSince.get(id);
      return since === undefined || elapsed() - since >= LOST_MS ? null : undefined;
    },
    /** Forgets deliveries that were routed. */
    forget(ids: readonly number[]): void {
      for (const id of ids) openSince.delete(id);
    },
  };
}
