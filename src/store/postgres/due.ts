import type { Alert } from '../../domain/alert.ts';
import { type ClaimOptions, type DueAlerts, MAX_OF_ONE_TRANSACTION } from '../../domain/batch.ts';
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
import { byTransaction, type DueGroup } from '../sql/alert-rows.ts';
import { MAKES_BURST } from '../sql/batch-conditions.ts';
import { readAlerts } from './alerts.ts';
import type { Statements } from './connection.ts';

const DUE = "WHERE a.channel_id = $1 AND a.state = 'waiting' AND a.hold IS NOT DISTINCT FROM $2 AND a.due_at <= $3";

/** A page of a channel's due alerts with this hold, oldest first, behind the alert `after` (0: from the first). */
export const pageOfDue = (
  sql: Statements,
  channelId: string,
  hold: Hold | null,
  now: number,
  after: number,
  limit: number,
): Promise<Alert[]> =>
  readAlerts(
    sql,
    `${DUE} AND (a.due_at, a.id) > (coalesce((SELECT due_at FROM alerts WHERE id = $4), -1), $4)
     ORDER BY a.due_at, a.id LIMIT $5`,
    channelId,
    hold,
    now,
    after,
    limit,
  );

/**
 * The channel's next alerts; if none are due, when the next ones are (null: none wait). Beyond `limit` it adds the other
 * alerts of the same transactions, unless `alone` is set.
 */
export async function nextDue(
  sql: Statements,
  channelId: string,
  options: ClaimOptions,
  now: number,
): Promise<DueAlerts | { until: number | null; burst: boolean }> {
  // Held alerts are first: they are older than later ones that were not held (due_at 0).
  const due = await sql.get<DueGroup>(
    `SELECT hold, count(*) AS waiting, min(created_at) AS oldest FROM alerts
     WHERE channel_id = $1 AND state = 'waiting' AND due_at <= $2
     GROUP BY hold ORDER BY hold IS NULL, min(due_at) LIMIT 1`,
    channelId,
    now,
  );
  const collecting = due?.hold === null ? await collectingUntil(sql, channelId, now) : null;
  const reason = due ? collectedFor(due.hold, collecting, now) : 'later';
  if (due && reason !== 'later') return takeGroup(sql, channelId, { ...options, now }, due, reason);
  const held = await sql.get<{ at: number | null }>(
    "SELECT min(due_at) AS at FROM alerts WHERE channel_id = $1 AND state = 'waiting' AND hold IS NOT NULL",
    channelId,
  );
  return { until: nextDueAt(collecting, held!.at), burst: collecting !== null };
}

async function takeGroup(
  sql: Statements,
  channelId: string,
  { limit, alone, now }: { limit: number; alone: boolean; now: number },
  { hold, waiting, oldest }: DueGroup,
  reason: DueAlerts['reason'],
): Promise<DueAlerts> {
  const first = await readAlerts(sql, `${DUE} ORDER BY a.due_at, a.id LIMIT $4`, channelId, hold, now, limit);
  const counted = await sql.get<{ n: number }>(
    `SELECT count(*) AS n FROM (
       SELECT DISTINCT t.tx_hash FROM alerts a JOIN transfers t ON t.id = a.transfer_id ${DUE} LIMIT $4) AS hashes`,
    channelId,
    hold,
    now,
    BACKLOG_TRANSACTIONS + 1,
  );
  const others = alone || first.length === waiting ? [] : await companions(sql, channelId, hold, now, first);
  const alerts = alone ? first : byTransaction([...first, ...others]);
  return { alerts, waiting, oldest, transactions: counted!.n, reason };
}

/** The other due alerts of the same transactions. */
async function companions(
  sql: Statements,
  channelId: string,
  hold: Hold | null,
  now: number,
  alerts: readonly Alert[],
): Promise<Alert[]> {
  const hashes = [...new Set(alerts.map(({ transfer }) => transfer.txHash))];
  const ids = await sql.all<{ id: number }>(
    `SELECT id FROM unnest($4::text[]) AS h (hash) CROSS JOIN LATERAL (
       SELECT a.id FROM alerts a JOIN transfers t ON t.id = a.transfer_id ${DUE} AND t.tx_hash = h.hash
       ORDER BY a.id LIMIT ${MAX_OF_ONE_TRANSACTION}) AS same WHERE id <> ALL($5::bigint[])`,
    channelId,
    hold,
    now,
    hashes,
    alerts.map(({ id }) => id),
  );
  if (ids.length === 0) return [];
  return readAlerts(
    sql,
    'WHERE a.id = ANY($1::bigint[]) ORDER BY a.id',
    ids.map(({ id }) => id),
  );
}

/** Until when a busy channel's alerts are collected for a digest; null: they are posted one by one. */
export async function collectingUntil(sql: Statements, channelId: string, now: number): Promise<number | null> {
  const last = await sql.get<{ lastAt: number }>(
    `SELECT sent_at AS "lastAt" FROM batches b WHERE channel_id = $1 AND ${MAKES_BURST} ORDER BY sent_at DESC LIMIT 1`,
    channelId,
  );
  if (!last) return null;
  const { lastAt } = last;
  // A cheap count first: only a busy channel's transactions have to be looked at.
  const posted = await countSince(sql, 'b.id', channelId, lastAt - BURST_WINDOW_MS);
  if (posted <= BURST_ALERTS) return null;
  // Alerts of one transaction count once, because they are posted as one.
  const alerts = await countSince(sql, 'DISTINCT b.id, t.tx_hash', channelId, lastAt - BURST_WINDOW_MS);
  const digested = await sql.get<{ n: number }>(
    `SELECT count(*) AS n FROM batches
     WHERE channel_id = $1 AND state = 'sent' AND sent_at > $2 AND digest_reason = 'burst'`,
    channelId,
    lastAt - BURST_DIGESTS_MS,
  );
  return burstUntil({ alerts, digests: digested!.n, lastAt }, now);
}

async function countSince(sql: Statements, what: string, channelId: string, since: number): Promise<number> {
  const counted = await sql.get<{ n: number }>(
    `SELECT count(*) AS n FROM (
       SELECT ${what} FROM batches b JOIN alerts a ON a.batch_id = b.id JOIN transfers t ON t.id = a.transfer_id
       WHERE b.channel_id = $1 AND ${MAKES_BURST} AND b.sent_at > $2 LIMIT $3) AS shown`,
    channelId,
    since,
    BURST_ALERTS + 1,
  );
  return counted!.n;
}
