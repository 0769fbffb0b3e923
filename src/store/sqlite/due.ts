import type { Database } from 'better-sqlite3';
import type { Alert } from '../../domain/alert.ts';
import { type DueAlerts, MAX_OF_ONE_TRANSACTION } from '../../domain/batch.ts';
import {
  BACKLOG_TRANSACTIONS,
  BURST_ALERTS,
  BURST_DIGESTS_MS,
  BURST_WINDOW_MS,
  burstUntil,
  collectedFor,
  nextDueAt,
} from '../../domain/burst.ts';
import type { Hold } from '../../domain/hold.ts';
import { ALERT_COLUMNS, type AlertRow, byTransaction, type DueGroup } from '../sql/alert-rows.ts';
import { MAKES_BURST } from '../sql/batch-conditions.ts';
import { alertReader } from './alerts.ts';

/** Finds the due alerts of a channel. */
export function dueAlerts(db: Database) {
  const { claimed } = alertReader(db);
  // Held alerts are first: they are older than later ones that were not held (due_at 0).
  const group = db.prepare<[string, number], DueGroup>(
    `SELECT hold, count(*) AS waiting, min(created_at) AS oldest FROM alerts
     WHERE channel_id = ? AND state = 'waiting' AND due_at <= ?
     GROUP BY hold ORDER BY hold IS NULL, min(due_at) LIMIT 1`,
  );
  const transactions = db
    .prepare<[string, Hold | null, number, number], number>(
      `SELECT count(*) FROM (SELECT DISTINCT t.tx_hash FROM alerts a JOIN transfers t ON t.id = a.transfer_id
         WHERE a.channel_id = ? AND a.state = 'waiting' AND a.hold IS ? AND a.due_at <= ? LIMIT ?)`,
    )
    .pluck();
  const nextHeld = db.prepare<[string], { at: number | null }>(
    "SELECT min(due_at) AS at FROM alerts WHERE channel_id = ? AND state = 'waiting' AND hold IS NOT NULL",
  );
  const waiting = db.prepare<[string, Hold | null, number, number], AlertRow>(
    `SELECT ${ALERT_COLUMNS} FROM alerts a JOIN transfers t ON t.id = a.transfer_id
     WHERE a.channel_id = ? AND a.state = 'waiting' AND a.hold IS ? AND a.due_at <= ? ORDER BY a.due_at, a.id LIMIT ?`,
  );
  const following = db.prepare<[string, Hold | null, number, number, number, number], AlertRow>(
    `SELECT ${ALERT_COLUMNS} FROM alerts a JOIN transfers t ON t.id = a.transfer_id
     WHERE a.channel_id = ? AND a.state = 'waiting' AND a.hold IS ? AND a.due_at <= ?
       AND (a.due_at, a.id) > (coalesce((SELECT due_at FROM alerts WHERE id = ?), -1), ?) ORDER BY a.due_at, a.id LIMIT ?`,
  );
  // The plus keeps SQLite from the index by channel, where thousands may wait; a transaction has few transfers.
  const ofTransaction = db.prepare<[string, string, string, Hold | null, number, number], AlertRow>(
    `SELECT ${ALERT_COLUMNS} FROM transfers t CROSS JOIN alerts a ON a.transfer_id = t.id
     WHERE substr(t.tx_hash, 3, 8) = substr(?, 3, 8) AND t.tx_hash = ?
       AND +a.channel_id = ? AND a.state = 'waiting' AND a.hold IS ? AND a.due_at <= ?
     ORDER BY a.id LIMIT ?`,
  );
  const collectingUntil = collectingLookUp(db);

  function read(channelId: string, hold: Hold | null, now: number, limit: number): Alert[] {
    return waiting.all(channelId, hold, now, limit).map(claimed);
  }

  /** The `limit` oldest alerts of a group, with the others of their transactions. */
  function together(channelId: string, { hold, waiting: all }: DueGroup, now: number, limit: number): Alert[] {
    const oldest = read(channelId, hold, now, limit);
    if (oldest.length === all) return byTransaction(oldest);
    const known = new Set(oldest.map(({ id }) => id));
    const hashes = new Set(oldest.map(({ transfer }) => transfer.txHash));
    const others = [...hashes].flatMap((hash) =>
      ofTransaction.all(hash, hash, channelId, hold, now, MAX_OF_ONE_TRANSACTION).filter(({ id }) => !known.has(id)),
    );
    return byTransaction([...oldest, ...others.map(claimed)]);
  }

  return {
    /** A page of the due alerts with this hold, oldest first, behind the alert `after` (0: from the first). */
    page: (channelId: string, hold: Hold | null, now: number, after: number, limit: number): Alert[] =>
      following.all(channelId, hold, now, after, after, limit).map(claimed),
    /**
     * The channel's next alerts; if none are due, when the next ones are (null: none wait). Beyond `limit` it adds the
     * other alerts of the same transactions, unless `alone` is set.
     */
    next(
      channelId: string,
      { limit, alone }: { limit: number; alone: boolean },
      now: number,
    ): DueAlerts | { until: number | null; burst: boolean } {
      const take = (of: DueGroup, reason: DueAlerts['reason']): DueAlerts => ({
        alerts: alone ? read(channelId, of.hold, now, limit) : together(channelId, of, now, limit),
        waiting: of.waiting,
        oldest: of.oldest,
        transactions: transactions.get(channelId, of.hold, now, BACKLOG_TRANSACTIONS + 1)!,
        reason,
      });
      const due = group.get(channelId, now);
      const collecting = due?.hold === null ? collectingUntil(channelId, now) : null;
      const reason = due ? collectedFor(due.hold, collecting, now) : 'later';
      if (due && reason !== 'later') return take(due, reason);
      return { until: nextDueAt(collecting, nextHeld.get(channelId)!.at), burst: collecting !== null };
    },
  };
}

/** Returns until when a busy channel's alerts are collected for a digest; null: they are posted one by one. */
export function collectingLookUp(db: Database) {
  const alertsSince = db.prepare<[string, number, number], { count: number }>(
    `SELECT count(*) AS count FROM (
       SELECT b.id FROM batches b CROSS JOIN alerts a ON a.batch_id = b.id
       WHERE b.channel_id = ? AND ${MAKES_BURST} AND b.sent_at > ? LIMIT ?)`,
  );
  // Alerts of one transaction count once, because they are posted as one.
  const transactionsSince = db.prepare<[string, number, number], { count: number }>(
    `SELECT count(*) AS count FROM (
       SELECT DISTINCT b.id, t.tx_hash FROM batches b JOIN alerts a ON a.batch_id = b.id
         JOIN transfers t ON t.id = a.transfer_id
       WHERE b.channel_id = ? AND ${MAKES_BURST} AND b.sent_at > ? LIMIT ?)`,
  );
  const digested = db.prepare<[string, number], { digests: number }>(
    `SELECT count(*) AS digests FROM batches
     WHERE channel_id = ? AND state = 'sent' AND sent_at > ? AND digest_reason = 'burst'`,
  );
  const lastPosted = db.prepare<[string], { lastAt: number }>(
    `SELECT sent_at AS lastAt FROM batches b WHERE channel_id = ? AND ${MAKES_BURST} ORDER BY sent_at DESC LIMIT 1`,
  );
  return (channelId: string, now: number): number | null => {
    const last = lastPosted.get(channelId);
    if (!last) return null;
    const since = last.lastAt - BURST_WINDOW_MS;
    // A cheap count first: only a busy channel's transactions have to be looked at.
    if (alertsSince.get(channelId, since, BURST_ALERTS + 1)!.count <= BURST_ALERTS) return null;
    const { count } = transactionsSince.get(channelId, since, BURST_ALERTS + 1)!;
    const { digests } = digested.get(channelId, last.lastAt - BURST_DIGESTS_MS)!;
    return burstUntil({ alerts: count, digests, lastAt: last.lastAt }, now);
  };
}
