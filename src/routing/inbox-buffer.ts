import type { InboxRow } from '../domain/inbox.ts';
import type { Store } from '../store/store.ts';

/** Characters of bodies that are kept in memory for the router; what comes beyond them is read from the inbox. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

/**
 * The front of the inbox: the oldest deliveries that wait for the router, in the order in which they came, each as
 * `understand` makes it, once. What this process has just stored is still at hand, so that the inbox is read only for
 * what is not.
 */
export function createInboxBuffer<Understood extends object>(
  { inbox }: Pick<Store, 'inbox'>,
  understand: (row: InboxRow) => Understood,
) {
  const rows = new Map<number, { row: InboxRow; understood?: Understood }>();
  let bytes = 0;
  /** The inbox has rows behind those at hand; none is added until it has been read to its end. */
  let isMoreBehind = true;

  const add = (row: InboxRow) => {
    if (rows.has(row.id)) return;
    rows.set(row.id, { row });
    bytes += row.body.length;
  };
  const take = (from: number, limit: number): Understood[] =>
    rows
      .values()
      .drop(from)
      .take(limit)
      .map((waiting) => (waiting.understood ??= understand(waiting.row)))
      .toArray();

  return {
    /** These were stored just now. */
    stored(stored: readonly InboxRow[]): void {
      for (const row of stored) {
        if (bytes + row.body.length > MOST_CHARACTERS) isMoreBehind = true;
        if (!isMoreBehind) add(row);
      }
    },

    /** The oldest ones, at most `limit`. */
    async next(limit: number): Promise<Understood[]> {
      if (rows.size === 0) {
        // From here on nothing escapes: what is stored before the inbox is read is found there, what is stored later is added.
        isMoreBehind = false;
        const read = await inbox.next(limit, MOST_CHARACTERS).catch((error: unknown) => {
          isMoreBehind = true;
          throw error;
        });
        const later = [...rows.values()];
        rows.clear();
        bytes = 0;
        for (const row of read) add(row);
        if (read.length === limit || bytes >= MOST_CHARACTERS) isMoreBehind = true;
        else for (const { row } of later) add(row);
      }
      return take(0, limit);
    },

    /** Understands what comes behind the first `after`, at most `limit`, ahead of time: while the database is busy. */
    prepare(after: number, limit: number): void {
      take(after, limit);
    },

    /** These wait no longer. */
    done(ids: readonly number[]): void {
      for (const id of ids) {
        bytes -= rows.get(id)?.row.body.length ?? 0;
        rows.delete(id);
      }
    },
  };
}
