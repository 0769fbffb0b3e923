import type { InboxRow } from '../domain/inbox.ts';
import type { Store } from '../store/store.ts';
import { createLanes, MAX_CHARACTERS } from './lanes.ts';

/** Characters that are parsed at once, or one body. */
const PARSED_AT_ONCE = 1024 * 1024;

/** The deliveries that the router takes next. */
export type InboxBuffer<Parsed extends object> = ReturnType<typeof createInboxBuffer<Parsed>>;

/**
 * The oldest deliveries that wait for the router, in memory; each is parsed once. Scopes take turns, so that a flood at
 * one receiver URL does not delay the others; each scope's deliveries stay in the order in which they came. Deliveries
 * that this process has just stored are not read again; the inbox is read only for the rest.
 */
export function createInboxBuffer<Parsed extends object>(
  { inbox }: Pick<Store, 'inbox'>,
  parse: (row: InboxRow) => Parsed,
) {
  const lanes = createLanes<Parsed>();
  /** The inbox may have rows of scopes that have no lane. */
  let isUnread = true;

  /** Reads the oldest rows of all scopes, or of one. */
  async function readInbox(limit: number, scope?: number): Promise<void> {
    const isRead = (of: number) => scope === undefined || of === scope;
    // The read finds deliveries that were stored before it; those stored from now on are added here.
    if (scope === undefined) isUnread = false;
    for (const [of, lane] of lanes.all()) if (isRead(of)) lane.isMoreBehind = false;
    const read = await inbox.next(limit, MAX_CHARACTERS, scope).catch((error: unknown) => {
      if (scope === undefined) isUnread = true;
      for (const [of, lane] of lanes.all()) if (isRead(of)) lane.isMoreBehind = true;
      throw error;
    });
    const isAll = read.length < limit && read.reduce((sum, { body }) => sum + body.length, 0) < MAX_CHARACTERS;
    const addedMeanwhile = [...lanes.all()].flatMap(([of, lane]) => (isRead(of) ? lanes.clear(lane) : []));
    for (const row of read) lanes.add(lanes.of(row.scope, isUnread), row);
    if (scope === undefined) isUnread = !isAll;
    if (isAll) for (const row of addedMeanwhile) lanes.add(lanes.of(row.scope, isUnread), row);
    else {
      for (const { scope: of } of addedMeanwhile) lanes.of(of, isUnread);
      for (const [of, lane] of lanes.all()) if (isRead(of)) lane.isMoreBehind = true;
    }
  }

  function take(from: number, limit: number): Parsed[] {
    const taken: Parsed[] = [];
    let parsed = 0;
    for (const waiting of lanes.interleaved().drop(from).take(limit)) {
      if (!waiting.parsed) parsed += waiting.row.body.length;
      if (parsed > PARSED_AT_ONCE && taken.length > 0) break;
      waiting.parsed ??= parse(waiting.row);
      taken.push(waiting.parsed);
    }
    return taken;
  }

  return {
    /** Adds deliveries that were stored just now. */
    add(stored: readonly InboxRow[]): void {
      for (const row of stored) {
        const lane = lanes.of(row.scope, isUnread);
        if (!lanes.hasRoom(lane, row)) lane.isMoreBehind = true;
        if (!lane.isMoreBehind) lanes.add(lane, row);
      }
    },

    /** The oldest deliveries of each scope, at most `limit`. */
    async next(limit: number): Promise<Parsed[]> {
      if (lanes.isEmpty()) await readInbox(limit);
      else {
        for (const [scope, lane] of lanes.all())
          if (lane.rows.size === 0 && lane.isMoreBehind) await readInbox(limit, scope);
      }
      return take(0, limit);
    },

    /** Parses up to `limit` deliveries behind the first `after`, in idle time. */
    parseAhead(after: number, limit: number): void {
      take(after, limit);
    },

    /** Removes deliveries that were routed; returns how much each one was. */
    remove(ids: readonly number[]): { scope: number; bytes: number }[] {
      return ids.flatMap((id) => lanes.remove(id) ?? []);
    },
  };
}
