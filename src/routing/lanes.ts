import type { InboxRow } from '../domain/inbox.ts';

/** Most characters of bodies in memory for each scope; deliveries beyond that are read from the inbox. */
export const MAX_CHARACTERS = 4 * 1024 * 1024;
/** The same for all scopes together. */
const MAX_IN_ALL = 4 * MAX_CHARACTERS;

/** A delivery in memory; `parsed` once it was. */
export interface Waiting<Parsed> {
  row: InboxRow;
  parsed?: Parsed;
}

/** The deliveries of one scope, in the order of arrival. */
interface Lane<Parsed> {
  rows: Map<number, Waiting<Parsed>>;
  characters: number;
  /** The inbox has rows behind these: none is added until it has been read. */
  isMoreBehind: boolean;
}

/** The deliveries in memory, by scope; the scope whose turn was longest ago is first. */
export function createLanes<Parsed>() {
  const lanes = new Map<number, Lane<Parsed>>();
  const scopeOf = new Map<number, number>();
  let characters = 0;

  return {
    all: (): Iterable<[scope: number, lane: Lane<Parsed>]> => lanes,
    isEmpty: (): boolean => scopeOf.size === 0,
    /** A scope's lane; `isMoreBehind`: for a new one, whether the inbox may have rows of its scope. */
    of(scope: number, isMoreBehind: boolean): Lane<Parsed> {
      const known = lanes.get(scope);
      if (known) return known;
      const lane: Lane<Parsed> = { rows: new Map(), characters: 0, isMoreBehind };
      lanes.set(scope, lane);
      return lane;
    },
    /** Whether one more delivery fits into memory. */
    hasRoom: (lane: Lane<Parsed>, { body }: InboxRow): boolean =>
      lane.characters + body.length <= MAX_CHARACTERS && characters + body.length <= MAX_IN_ALL,
    add(lane: Lane<Parsed>, waiting: Waiting<Parsed>): void {
      const { row } = waiting;
      if (lane.rows.has(row.id)) return;
      lane.rows.set(row.id, waiting);
      scopeOf.set(row.id, row.scope);
      lane.characters += row.body.length;
      characters += row.body.length;
    },
    /** Empties a lane and returns its deliveries. */
    clear(lane: Lane<Parsed>): Waiting<Parsed>[] {
      const rows = [...lane.rows.values()];
      for (const { row } of rows) scopeOf.delete(row.id);
      lane.rows.clear();
      characters -= lane.characters;
      lane.characters = 0;
      return rows;
    },
    /** Removes a delivery and returns how much it was; its scope moves behind the others. */
    remove(id: number): { scope: number; bytes: number } | null {
      const scope = scopeOf.get(id);
      const lane = scope === undefined ? undefined : lanes.get(scope);
      if (scope === undefined || !lane) return null;
      const { body } = lane.rows.get(id)!.row;
      lane.characters -= body.length;
      characters -= body.length;
      lane.rows.delete(id);
      scopeOf.delete(id);
      // Moves the scope behind the others.
      lanes.delete(scope);
      if (lane.rows.size > 0 || lane.isMoreBehind) lanes.set(scope, lane);
      return { scope, bytes: Buffer.byteLength(body) };
    },
    /** One of each scope in turn. */
    *interleaved() {
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
    },
  };
}
