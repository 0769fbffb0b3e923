import { type InboxRow, takenInTurn } from '../domain/inbox.ts';
import { MIB } from '../domain/units.ts';
import type { Store } from '../store/store.ts';

/** Most deliveries in memory, and most bytes of their bodies, unless one has more. The rest stays in the inbox. */
const MAX_ROWS = 1_000;
const MAX_BYTES = 4 * MIB;

/**
 * The oldest deliveries that wait for the router, in memory. Scopes take turns, so that a flood at one receiver URL does not
 * delay the others; each scope's deliveries stay in the order of arrival. Deliveries that this process has just stored
 * are not read again. `isShared`: other processes store deliveries, too, so all are read from the inbox.
 */
export function createInboxBuffer(inbox: Pick<Store['inbox'], 'next'>, isShared: boolean) {
  /** By id, in the order of arrival. */
  const rows = new Map<number, InboxRow>();
  let bytes = 0;
  /** The inbox may have deliveries behind these: none is added until it has been read. */
  let isBehind = true;
  /** What was stored while the inbox is read. */
  let storedMeanwhile: InboxRow[] = [];
  /** Another process may have stored deliveries while the inbox is read. */
  let hasNews = false;
  let isReading = false;

  function put(row: InboxRow): void {
    if (rows.has(row.id)) return;
    rows.set(row.id, row);
    bytes += Buffer.byteLength(row.body);
  }

  function addStored(stored: readonly InboxRow[]): void {
    for (const row of stored) {
      isBehind ||= isShared || rows.size >= MAX_ROWS || bytes >= MAX_BYTES;
      if (!isBehind) put(row);
    }
  }

  async function read(): Promise<void> {
    isReading = true;
    storedMeanwhile = [];
    hasNews = false;
    try {
      const found = await inbox.next(MAX_ROWS, MAX_BYTES);
      for (const row of found) put(row);
      const read = found.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
      isBehind = hasNews || found.length >= MAX_ROWS || read >= MAX_BYTES;
      // Those that the read did not find yet.
      addStored(storedMeanwhile);
    } finally {
      isReading = false;
    }
  }

  return {
    add(stored: readonly InboxRow[]): void {
      if (isReading) storedMeanwhile.push(...stored);
      else addStored(stored);
    },
    mayHaveMore(): void {
      isBehind = true;
      hasNews = true;
    },
    /** The oldest deliveries of each scope in turn, at most `limit`. Once each had its turn, at most this many characters. */
    async next(limit: number, maxCharacters: number): Promise<InboxRow[]> {
      if (isBehind && rows.size < limit) await read();
      const scopes = Map.groupBy(rows.values(), ({ scope }) => scope).values();
      const waiting = [...scopes].map((of) => of.map((row) => ({ row, size: row.body.length })));
      return takenInTurn(waiting, limit, maxCharacters).map(({ row }) => row);
    },
    remove(ids: readonly number[]): void {
      for (const id of ids) {
        bytes -= Buffer.byteLength(rows.get(id)?.body ?? '');
        rows.delete(id);
      }
      // Also finds what another program put into the inbox, such as a replay.
      if (rows.size === 0) isBehind = true;
    },
    /** Empties the memory: what the inbox has by now is read before anything is taken. */
    readAgain(): void {
      rows.clear();
      bytes = 0;
      isBehind = true;
    },
  };
}
