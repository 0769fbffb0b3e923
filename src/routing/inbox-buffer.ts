import type { InboxRow } from '../domain/inbox.ts';
import type { Store } from '../store/store.ts';

/** Most characters of bodies in memory for each scope; deliveries beyond that are read from the inbox. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** The same for all scopes together. */
const MAX_IN_ALL = 4 * MAX_CHARACTERS;
/** Characters that are parsed at once, or one body. */
const PARSED_AT_ONCE = 1024 * 1024;

/** The deliveries of one scope, in the order in which they came. */
interface Lane<Parsed> {
  rows: Map<number, { row: InboxRow; parsed?: Parsed }>;
  characters: number;
  /** The inbox has rows behind these: none is added until it has been read. */
  isMoreBehind: boolean;
}

/**
 * The oldest deliveries that wait for the router, in memory; each is parsed once. Scopes take turns, so that a flood at
 * one receiver URL does not delay the others; each scope's deliveries stay in the order in which they came. Deliveries
 * that this process has just stored are not read again; the inbox is read only for the rest.
 */
export function createInboxBuffer<Parsed extends object>(
  { inbox }: Pick<Store, 'inbox'>,
  parse: (row: InboxRow) => Parsed,
) {
  const lanes = new Map<number, Lane<Parsed>>();
  const scopeOf = new Map<number, number>();
  let characters = 0;
  /** The inbox may have rows of scopes that have no lane. */
  let isUnread = true;

  function laneOf(scope: number): Lane<Parsed> {
    const known = lanes.get(scope);
    if (known) return known;
    const lane: Lane<Parsed> = { rows: new Map(), characters: 0, isMoreBehind: isUnread };
    lanes.set(scope, lane);
    return lane;
  }

  function addRow(lane: Lane<Parsed>, row: InboxRow): void {
    if (lane.rows.has(row.id)) return;
    lane.rows.set(row.id, { row });
    scopeOf.set(row.id, row.scope);
    lane.characters += row.body.length;
    characters += row.body.length;
  }

  function clear(lane: Lane<Parsed>): InboxRow[] {
    const rows = lane.rows
      .values()
      .map(({ row }) => row)
      .toArray();
    for (const { id } of rows) scopeOf.delete(id);
    lane.rows.clear();
    characters -= lane.characters;
    lane.characters = 0;
    return rows;
  }

  /** Reads the oldest rows of all scopes, or of one. */
  async function readInbox(limit: number, scope?: number): Promise<void> {
    const isRead = (of: number) => scope === undefined || of === scope;
    // The read finds deliveries that were stored before it; those stored from now on are added here.
    if (scope === undefined) isUnread = false;
    for (const [of, lane] of lanes) if (isRead(of)) lane.isMoreBehind = false;
    const read = await inbox.next(limit, MAX_CHARACTERS, scope).catch((error: unknown) => {
      if (scope === undefined) isUnread = true;
      for (const [of, lane] of lanes) if (isRead(of)) lane.isMoreBehind = true;
      throw error;
    });
    const isAll = read.length < limit && read.reduce((sum, { body }) => sum + body.length, 0) < MAX_CHARACTERS;
    const addedMeanwhile = [...lanes].flatMap(([of, lane]) => (isRead(of) ? clear(lane) : []));
    for (const row of read) addRow(laneOf(row.scope), row);
    if (scope === undefined) isUnread = !isAll;
    if (isAll) for (const row of addedMeanwhile) addRow(laneOf(row.scope), row);
    else {
      for (const { scope: of } of addedMeanwhile) laneOf(of);
      for (const [of, lane] of lanes) if (isRead(of)) lane.isMoreBehind = true;
    }
  }

  /** One of each scope in turn. */
  function* interleaved() {
    let turns = lanes
      .values()
      .map(({ rows }) => rows.values())
      .toArray();
    while (turns.length > 0) {
      const left: typeof turns = [];
      for (const turn of turns) {
        const { value, done } = turn.next();
        if (done) continue;
        left.push(turn);
        yield value;
      }
      turns = left;
    }
  }

  function take(from: number, limit: number): Parsed[] {
    const taken: Parsed[] = [];
    let parsed = 0;
    for (const waiting of interleaved().drop(from).take(limit)) {
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
        const lane = laneOf(row.scope);
        const size = row.body.length;
        if (lane.characters + size > MAX_CHARACTERS || characters + size > MAX_IN_ALL) lane.isMoreBehind = true;
        if (!lane.isMoreBehind) addRow(lane, row);
      }
    },

    /** The oldest deliveries of each scope, at most `limit`. */
    async next(limit: number): Promise<Parsed[]> {
      if (characters === 0 && scopeOf.size === 0) await readInbox(limit);
      else {
        for (const [scope, lane] of lanes) if (lane.rows.size === 0 && lane.isMoreBehind) await readInbox(limit, scope);
      }
      return take(0, limit);
    },

    /** Parses up to `limit` deliveries behind the first `after`, in idle time. */
    parseAhead(after: number, limit: number): void {
      take(after, limit);
    },

    /** Removes deliveries that were routed; returns how much each one was. */
    remove(ids: readonly number[]): { scope: number; bytes: number }[] {
      const removed: { scope: number; bytes: number }[] = [];
      for (const id of ids) {
        const scope = scopeOf.get(id);
        const lane = scope === undefined ? undefined : lanes.get(scope);
        if (scope === undefined || !lane) continue;
        const { body } = lane.rows.get(id)!.row;
        const size = body.length;
        removed.push({ scope, bytes: Buffer.byteLength(body) });
        lane.characters -= size;
        characters -= size;
        lane.rows.delete(id);
        scopeOf.delete(id);
        // Moves the scope behind the others.
        lanes.delete(scope);
        if (lane.rows.size > 0 || lane.isMoreBehind) lanes.set(scope, lane);
      }
      return removed;
    },
  };
}
