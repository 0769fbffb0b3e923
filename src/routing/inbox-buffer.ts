import { MIB } from '../domain/bytes.ts';
import type { InboxRow } from '../domain/inbox.ts';
import type { Store } from '../store/store.ts';
import { createScopeQueues, type Waiting } from './scope-queues.ts';

/** Maximum bytes of bodies that are read from the inbox at once, unless one body has more. */
const MAX_READ_BYTES = 4 * MIB;
/** Maximum characters that are parsed at once, unless one body has more. */
const MAX_PARSED = 1024 * 1024;

/** What is made of a delivery. */
interface ParsedRow {
  row: InboxRow;
}

/** The deliveries that the router takes next. */
export type InboxBuffer<Parsed extends ParsedRow> = ReturnType<typeof createInboxBuffer<Parsed>>;

/**
 * The oldest deliveries that wait for the router, in memory; each is parsed once. Scopes take turns, so that a flood at
 * one receiver URL does not delay the others; each scope's deliveries stay in the order of arrival. Deliveries
 * that this process has just stored are not read again; the inbox is read only for the rest. `isShared`: other processes
 * store deliveries, too, so the inbox is read whenever something may have been stored.
 */
export function createInboxBuffer<Parsed extends ParsedRow>(
  inbox: Pick<Store['inbox'], 'next'>,
  parse: (row: InboxRow) => Parsed,
  isShared = false,
) {
  const queues = createScopeQueues<Parsed>();
  /** The inbox may have rows of scopes that have no queue. */
  let isUnread = true;
  /** Something may have been stored since the last read began. */
  let wasWoken = false;

  /** Reads the oldest rows of all scopes, or of one. */
  async function readInbox(limit: number, scope?: number): Promise<void> {
    const isRead = (of: number) => scope === undefined || of === scope;
    // The read finds deliveries that were stored before it; those stored from now on are added here.
    if (scope === undefined) isUnread = wasWoken = false;
    for (const [of, queue] of queues.all()) if (isRead(of)) queue.hasMoreInStore = false;
    const read = await inbox.next(limit, MAX_READ_BYTES, scope).catch((error: unknown) => {
      if (scope === undefined) isUnread = true;
      for (const [of, queue] of queues.all()) if (isRead(of)) queue.hasMoreInStore = true;
      throw error;
    });
    const bytes = read.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
    const isAll = read.length < limit && bytes < MAX_READ_BYTES;
    const before = [...queues.all()].flatMap(([of, queue]) => (isRead(of) ? queues.clear(queue) : []));
    const parsed = new Map(before.map((waiting) => [waiting.row.id, waiting.parsed]));
    for (const row of read) queues.add(queues.of(row.scope, isUnread), renewed(row, parsed.get(row.id)));
    if (scope === undefined) isUnread = !isAll || wasWoken;
    // Nothing is added to a shared inbox's buffer while it is read, and what the inbox no longer has is gone.
    if (isAll && !isShared) for (const waiting of before) queues.add(queues.of(waiting.row.scope, isUnread), waiting);
    else if (!isAll) {
      for (const { row } of before) queues.of(row.scope, isUnread);
      for (const [of, queue] of queues.all()) if (isRead(of)) queue.hasMoreInStore = true;
    }
  }

  function take(from: number, limit: number): Parsed[] {
    const taken: Parsed[] = [];
    let parsed = 0;
    for (const waiting of queues.interleaved().drop(from).take(limit)) {
      if (!waiting.parsed) parsed += waiting.row.body.length;
      if (parsed > MAX_PARSED && taken.length > 0) break;
      waiting.parsed ??= parse(waiting.row);
      taken.push(waiting.parsed);
    }
    return taken;
  }

  return {
    /**
     * Adds deliveries that were stored just now. None of them may have been routed yet: they are to be added before the
     * router can know how their responses ended.
     */
    add(stored: readonly InboxRow[]): void {
      if (isShared) {
        isUnread = wasWoken = true;
        return;
      }
      for (const row of stored) {
        const queue = queues.of(row.scope, isUnread);
        if (!queues.hasRoom(queue, row)) queue.hasMoreInStore = true;
        if (!queue.hasMoreInStore) queues.add(queue, { row });
      }
    },

    /** The oldest deliveries of each scope, at most `limit`. */
    async next(limit: number): Promise<Parsed[]> {
      if (queues.isEmpty() || (isShared && isUnread)) await readInbox(limit);
      else {
        for (const [scope, queue] of queues.all())
          if (queue.rows.size === 0 && queue.hasMoreInStore) await readInbox(limit, scope);
      }
      return take(0, limit);
    },

    has: queues.has,

    /** Empties the memory: what the inbox has by now is read before anything is taken. */
    readAgain(): void {
      queues.clearAll();
      isUnread = wasWoken = true;
    },

    /** Parses up to `limit` deliveries behind the first `after`, in idle time. */
    parseAhead(after: number, limit: number): void {
      take(after, limit);
    },

    /** Removes deliveries that were routed; returns how much each one was. */
    remove(ids: readonly number[]): { scope: number; bytes: number }[] {
      return ids.flatMap((id) => queues.remove(id) ?? []);
    },
  };
}

/** A delivery as it was just read; what was made of its body stays. */
function renewed<Parsed extends ParsedRow>(row: InboxRow, parsed: Parsed | undefined): Waiting<Parsed> {
  return parsed ? { row, parsed: { ...parsed, row } } : { row };
}
