import Sqlite, { type Database } from 'better-sqlite3';
import { unsynced } from './database.ts';

/**
 * How many decisions are counted in one pass through the subscriptions: one for each SUBSCRIPTIONS_EACH of these, but
 * no fewer and no more than so. Then several counts share each page of the file that they change.
 */
const FEWEST = 2_000;
const MOST = 20_000;
const SUBSCRIPTIONS_EACH = 50;
/** How many of them are counted in one transaction. */
const STEP = 1_000;
/** Events closer together than this count as one movement where the average time between events is reckoned. */
const MOMENT_MS = 10_000;

/** A pass: it counts the decisions up to `to` by subscription, and has come to the decision `id` of `subscription`. */
interface Window {
  to: number;
  subscription: number;
  id: number;
}

interface Decision {
  id: number;
  subscription: number;
  at: number;
}

/**
 * How often the subscriptions' addresses move. To count each event at once would change a page of the file for each.
 * Instead the decisions, which are stored anyway, are counted now and then, in the order of the subscriptions. How far
 * that has come is kept with the counts, so nothing is lost or counted twice however the process ends.
 */
export function rhythmsTable(db: Database) {
  const numberOf = db.prepare<[string], number>('SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?').pluck();
  const textOf = db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck();
  const set = db.prepare<[string, string]>('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)');
  const unset = db.prepare<[string]>('DELETE FROM meta WHERE key = ?');
  const latest = db.prepare<[], number>('SELECT coalesce(max(id), 0) FROM decisions').pluck();
  const subscriptions = db.prepare<[], number>('SELECT coalesce(max(subscription_id), 0) FROM rhythms').pluck();
  const between = db.prepare<[number, number], Decision>(
    `SELECT id, subscription_id AS subscription, at FROM decisions WHERE id > ? AND id <= ?
     ORDER BY subscription_id, id`,
  );
  // What comes within a moment is one movement: the transfers of a transaction are no rhythm of hours.
  const beat = db.prepare<Decision>(
    `UPDATE rhythms SET events = events + 1, silence_told_at = NULL,
       gap_ms = CASE WHEN last_event_at IS NULL OR @at - last_event_at < ${MOMENT_MS} THEN gap_ms
         WHEN gap_ms IS NULL THEN @at - last_event_at
         ELSE CAST(gap_ms * 0.8 + (@at - last_event_at) * 0.2 AS INTEGER) END,
       last_event_at = max(coalesce(last_event_at, 0), @at)
     WHERE subscription_id = @subscription`,
  );
  /** The pass's decisions in order, all of them committed: read once, because that takes as long as several steps. */
  let ordered: { from: number; to: number; decisions: Decision[] } | null = null;

  const counted = (): number => numberOf.get('counted-decisions') ?? 0;
  const open = (): Window | null => JSON.parse(textOf.get('counting-decisions') ?? 'null') as Window | null;
  const keep = (window: Window): void => void set.run('counting-decisions', JSON.stringify(window));

  function close(at: number): void {
    set.run('counted-decisions', String(at));
    unset.run('counting-decisions');
    ordered = null;
  }

  /** Counts `most` more decisions of a pass. */
  function step({ to, subscription, id }: Window, most: number): void {
    const from = counted();
    if (ordered?.from !== from || ordered.to !== to) ordered = { from, to, decisions: between.all(from, to) };
    const { decisions } = ordered;
    const isLeft = (one: Decision) =>
      one.subscription > subscription || (one.subscription === subscription && one.id > id);
    const first = decisions.findIndex(isLeft);
    const now = first === -1 ? [] : decisions.slice(first, first + most);
    for (const decision of now) beat.run(decision);
    const last = now.at(-1);
    if (!last || last === decisions.at(-1)) close(to);
    else keep({ to, subscription: last.subscription, id: last.id });
  }

  const countSome = db.transaction((): boolean => {
    step(open() ?? { to: latest.get()!, subscription: 0, id: 0 }, STEP);
    return latest.get()! > counted();
  });

  return {
    /** Tells that the caller's transaction made so many decisions; counts some when many are not yet counted. */
    decided(made: number): void {
      if (made === 0) return;
      // What this transaction made is left for later, because it may still fail.
      const to = latest.get()! - made;
      const from = counted();
      const window = open();
      // Fewer than were counted: ids are given again after the decisions with the highest ones were forgotten.
      if (to < from) close(to);
      else if (window && to < window.to) keep({ ...window, to });
      // Not as a transaction within the caller's: SQLite would copy each page that it changes.
      else if (window) step(window, Math.max(STEP, 2 * made));
      else if (to - from >= Math.min(MOST, Math.max(FEWEST, subscriptions.get()! / SUBSCRIPTIONS_EACH)))
        step({ to, subscription: 0, id: 0 }, Math.max(STEP, 2 * made));
    },

    /**
     * Counts some of what was decided until now, and tells whether there is more: the store does that to the end, before
     * anybody reads a rhythm, and others can write in between. If the power fails it is counted again. While nothing can
     * be written (a full disk) the rhythms stay as they were counted last.
     */
    count(): boolean {
      if (latest.get()! <= counted()) return false;
      try {
        return unsynced(db, () => countSome.immediate());
      } catch (error) {
        if (!(error instanceof Sqlite.SqliteError)) throw error;
        return false;
      }
    },
  };
}
