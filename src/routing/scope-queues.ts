import type { InboxRow } from '../domain/inbox.ts';

/** Maximum characters of bodies in memory for each scope; deliveries beyond that are read from the inbox. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** Maximum characters of bodies in memory for all scopes together. */
const MAX_TOTAL_CHARACTERS = 4 * MAX_CHARACTERS;

/** A delivery in memory; `parsed` once it was. */
export interface Waiting<Parsed> {
  row: InboxRow;
  parsed?: Parsed;
}

/** The deliveries of one scope, in the order of arrival. */
interface ScopeQueue<Parsed> {
  rows: Map<number, Waiting<Parsed>>;
  characters: number;
  /** The inbox has rows behind these: none is added until it has been read. */
  hasMoreInStore: boolean;
}

/** The deliveries in memory, by scope; the scope whose turn was longest ago is first. */
export function createScopeQueues<Parsed>() {
  const queues = new Map<number, ScopeQueue<Parsed>>();
  const scopeOf = new Map<number, number>();
  let characters = 0;

  return {
    all: (): Iterable<[scope: number, queue: ScopeQueue<Parsed>]> => queues,
    isEmpty: (): boolean => scopeOf.size === 0,
    has: (id: number): boolean => scopeOf.has(id),
    /** A scope's queue; `hasMoreInStore`: for a new one, whether the inbox may have rows of its scope. */
    of(scope: number, hasMoreInStore: boolean): ScopeQueue<Parsed> {
      const known = queues.get(scope);
      if (known) return known;
      const queue: ScopeQueue<Parsed> = { rows: new Map(), characters: 0, hasMoreInStore };
      queues.set(scope, queue);
      return queue;
    },
    /** Whether one more delivery fits into memory. */
    hasRoom: (queue: ScopeQueue<Parsed>, { body }: InboxRow): boolean =>
      queue.characters + body.length <= MAX_CHARACTERS && characters + body.length <= MAX_TOTAL_CHARACTERS,
    add(queue: ScopeQueue<Parsed>, waiting: Waiting<Parsed>): void {
      const { row } = waiting;
      if (queue.rows.has(row.id)) return;
      queue.rows.set(row.id, waiting);
      scopeOf.set(row.id, row.scope);
      queue.characters += row.body.length;
      characters += row.body.length;
    },
    /** Empties a queue and returns its deliveries. */
    clear(queue: ScopeQueue<Parsed>): Waiting<Parsed>[] {
      const rows = [...queue.rows.values()];
      for (const { row } of rows) scopeOf.delete(row.id);
      queue.rows.clear();
      characters -= queue.characters;
      queue.characters = 0;
      return rows;
    },
    clearAll(): void {
      queues.clear();
      scopeOf.clear();
      characters = 0;
    },
    /** Removes a delivery and returns how much it was; its scope moves behind the others. */
    remove(id: number): { scope: number; bytes: number } | null {
      const scope = scopeOf.get(id);
      const queue = scope === undefined ? undefined : queues.get(scope);
      if (scope === undefined || !queue) return null;
      const { body } = queue.rows.get(id)!.row;
      queue.characters -= body.length;
      characters -= body.length;
      queue.rows.delete(id);
      scopeOf.delete(id);
      // Moves the scope behind the others.
      queues.delete(scope);
      if (queue.rows.size > 0 || queue.hasMoreInStore) queues.set(scope, queue);
      return { scope, bytes: Buffer.byteLength(body) };
    },
    /** One of each scope in turn. */
    *interleaved() {
      let turns = queues
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
