import Sqlite, { type Database } from 'better-sqlite3';
import { unsynced } from './database.ts';

/**
 * Decisions that are counted in one go through the subscriptions: at least so many, at most so many, and between these
 * one for so many subscriptions, so that several of them share each page that they change.
 */
const FEWEST = 2_000;
const MOST = 20_000;
const SUBSCRIPTIONS_EACH = 50;
/** As many of them are counted at once. */
const STEP = 1_000;
/** Events closer together than this count as one movement where the average time between events is reckoned. */
const MOMENT_MS = 10_000;

/** What is to be counted: decisions up to `to`, without those of the subscriptions and decisions up to the latter two. */
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
 * How often the subscriptions' addresses move. An event each would write a page each: the decisions tell what came, and
 * are counted now and then, in the order of the subscriptions. How far that has come is kept with the counts, so nothing
 * is lost or counted twice however the process ends.
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
  /** The window's decisions in order, committed all: read once, because that takes as long as several steps. */
  let ordered: { from: number; to: number; decisions: Decision[] } | null = null;

  const counted = (): number => numberOf.get('counted-decisions') ?? 0;
  const open = (): Window | null => JSON.parse(textOf.get('counting-decisions') ?? 'null') as Window | null;
  const keep = (window: Window): void => void set.run('counting-decisions', JSON.stringify(window));

  function close(at: number): void {
    set.run('counted-decisions', String(at));
    unset.run('counting-decisions');
    ordered = null;
  }

  /** Counts as many of the window's decisions. */
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
      // This transaction may fail still: what it made waits.
      const to = latest.get()! - made;
      const from = counted();
      const window = open();
      // The highest numbers are given again once their decisions were forgotten.
      if (to < from) close(to);
      else if (window && to < window.to) keep({ ...window, to });
      // No transaction within the caller's: each page would be copied in case it fails.
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
