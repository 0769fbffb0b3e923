import Sqlite, { type Database } from 'better-sqlite3';
import { unsynced } from './database.ts';

/** Decisions that are counted at once. */
const MANY = 5_000;
/** Events closer together than this count as one movement where the average time between events is reckoned. */
const MOMENT_MS = 10_000;

/**
 * How often the subscriptions' addresses move. An event each would write a page each: the decisions tell what came, and
 * are counted now and then, in the order of the subscriptions. The number of the last one that was counted is kept
 * with the counts, so nothing is lost or counted twice however the process ends.
 */
export function rhythmsTable(db: Database) {
  const counted = db
    .prepare<[], number>("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'counted-decisions'")
    .pluck();
  const setCounted = db.prepare<[number]>(
    "INSERT OR REPLACE INTO meta (key, value) VALUES ('counted-decisions', CAST(? AS INTEGER))",
  );
  const latest = db.prepare<[], number>('SELECT coalesce(max(id), 0) FROM decisions').pluck();
  const uncounted = db.prepare<[number], { subscription: number; at: number }>(
    'SELECT subscription_id AS subscription, at FROM decisions WHERE id > ? ORDER BY subscription_id, id',
  );
  // What comes within a moment is one movement: the transfers of a transaction are no rhythm of hours.
  const beat = db.prepare<{ at: number; subscription: number }>(
    `UPDATE rhythms SET events = events + 1, silence_told_at = NULL,
       gap_ms = CASE WHEN last_event_at IS NULL OR @at - last_event_at < ${MOMENT_MS} THEN gap_ms
         WHEN gap_ms IS NULL THEN @at - last_event_at
         ELSE CAST(gap_ms * 0.8 + (@at - last_event_at) * 0.2 AS INTEGER) END,
       last_event_at = max(coalesce(last_event_at, 0), @at)
     WHERE subscription_id = @subscription`,
  );
  const countTo = (last: number): void => {
    for (const decision of uncounted.all(counted.get() ?? 0)) beat.run(decision);
    setCounted.run(last);
  };
  const count = db.transaction(countTo);

  return {
    /** Tells that the caller's transaction made so many decisions; counts when many are not yet counted. */
    decided(decisions: number): void {
      if (decisions === 0) return;
      const last = latest.get()!;
      const before = counted.get() ?? 0;
      // The highest numbers are given again once their decisions were forgotten.
      if (last - decisions < before) setCounted.run(last - decisions);
      // No transaction within the caller's: each page would be copied in case it fails.
      else if (last - before >= MANY) countTo(last);
    },

    /**
     * Counts what was decided until now; before anybody reads a rhythm. If the power fails it is counted again. While
     * nothing can be written (a full disk) the rhythms stay as they were counted last.
     */
    count(): void {
      const last = latest.get()!;
      if (last <= (counted.get() ?? 0)) return;
      try {
        unsynced(db, () => count.immediate(last));
      } catch (error) {
        if (!(error instanceof Sqlite.SqliteError)) throw error;
      }
    },
  };
}
