import type { InboxRow } from '../domain/inbox.ts';
import type { Store } from '../store/store.ts';

/** Characters of bodies that are kept in memory for the router; what comes beyond them is read from the inbox. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/**
 * The oldest deliveries that wait for the router, in memory and in the order in which they came; each is parsed once.
 * What this process has just stored need not be read again; the inbox is read only for the rest.
 */
export function createInboxBuffer<Parsed extends object>(
  { inbox }: Pick<Store, 'inbox'>,
  parse: (row: InboxRow) => Parsed,
) {
  const rows = new Map<number, { row: InboxRow; parsed?: Parsed }>();
  let characters = 0;
  /** The inbox has rows behind the buffered ones: none is added until it has been read to its end. */
  let isMoreBehind = true;

  function addRow(row: InboxRow): void {
    if (rows.has(row.id)) return;
    rows.set(row.id, { row });
    characters += row.body.length;
  }

  const take = (from: number, limit: number): Parsed[] =>
    rows
      .values()
      .drop(from)
      .take(limit)
      .map((waiting) => (waiting.parsed ??= parse(waiting.row)))
      .toArray();

  async function readInbox(limit: number): Promise<void> {
    // What is stored before the inbox is read is found there; what is stored from now on is added here.
    isMoreBehind = false;
    const read = await inbox.next(limit, MAX_CHARACTERS).catch((error: unknown) => {
      isMoreBehind = true;
      throw error;
    });
    const addedMeanwhile = [...rows.values()];
    rows.clear();
    characters = 0;
    for (const row of read) addRow(row);
    if (read.length === limit || characters >= MAX_CHARACTERS) isMoreBehind = true;
    else for (const { row } of addedMeanwhile) addRow(row);
  }

  return {
    /** Adds deliveries that were stored just now. */
    add(stored: readonly InboxRow[]): void {
      for (const row of stored) {
        if (characters + row.body.length > MAX_CHARACTERS) isMoreBehind = true;
        if (!isMoreBehind) addRow(row);
      }
    },

    /** The oldest deliveries, at most `limit`. */
    async next(limit: number): Promise<Parsed[]> {
      if (rows.size === 0) await readInbox(limit);
      return take(0, limit);
    },

    /** Parses up to `limit` deliveries behind the first `after`, for when there is time to. */
    parseAhead(after: number, limit: number): void {
      take(after, limit);
    },

    /** Removes deliveries that were routed. */
    remove(ids: readonly number[]): void {
      for (const id of ids) {
        characters -= rows.get(id)?.row.body.length ?? 0;
        rows.delete(id);
      }
    },
  };
}
