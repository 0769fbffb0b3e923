import type { Alert } from '../../domain/alert.ts';
import {
  BACKLOG_TRANSACTIONS,
  BURST_ALERTS,
  BURST_DIGESTS_MS,
  BURST_WINDOW_MS,
  burstUntil,
  type ClaimOptions,
  collectedFor,
  type DueAlerts,
  type Lane,
  MAX_OF_ONE_TRANSACTION,
  nextDueAt,
} from '../../domain/batch.ts';
import { type Part, part, type Sql } from '../sql.ts';
import { alertsById, byTransaction, ofSameTransactions, readAlerts } from './alerts.ts';

/** A channel's due alerts, and whether it is so busy that they are collected for a digest. */

type Group = Lane & Pick<DueAlerts, 'waiting' | 'oldest'>;

const due = (channelId: string, { hold, isSignificant }: Lane, now: number) =>
  part`WHERE a.channel_id = ${channelId} AND a.state = 'waiting' AND a.hold IS NOT DISTINCT FROM ${hold}
    AND a.due_at <= ${now}
    AND (a.hold IS NOT NULL OR a.significant = ${isSignificant})`;

/** A page of a lane's due alerts, oldest first, behind the alert `after` (0: from the first). */
export const pageOfDue = (
  sql: Sql,
  channelId: string,
  lane: Lane,
  now: number,
  after: number,
  limit: number,
): Promise<Alert[]> =>
  readAlerts(
    sql,
    part`${due(channelId, lane, now)}
      AND (a.due_at, a.id) > (coalesce((SELECT due_at FROM alerts WHERE id = ${after}), -1), ${after})
      ORDER BY a.due_at, a.id LIMIT ${limit}`,
  );

/**
 * The channel's next alerts, the significant ones first; if none are due, when the next ones are (null: none wait). Beyond
 * `limit` it adds the other alerts of the same transactions, unless `alone` is set.
 */
export async function nextDue(
  sql: Sql,
  channelId: string,
  options: ClaimOptions,
  now: number,
): Promise<DueAlerts | { until: number | null; burst: boolean }> {
  // Held alerts come before what is not significant: they are older than later ones that were not held (due_at 0).
  const lanes = await sql.all<Group>`
    SELECT hold, CASE WHEN hold IS NULL THEN significant ELSE 0 END AS is_significant_flag, count(*) AS waiting,
      min(created_at) AS oldest
    FROM alerts WHERE channel_id = ${channelId} AND state = 'waiting' AND due_at <= ${now} GROUP BY 2, hold
    ORDER BY 2 DESC, hold IS NULL, min(due_at)`;
  let until: number | null = null;
  for (const { hold, isSignificant, ...waiting } of lanes) {
    const lane = { hold, isSignificant };
    const collecting = hold === null ? await collectingUntil(sql, channelId, isSignificant, now) : null;
    const reason = collectedFor(hold, collecting, now);
    if (reason !== 'later') return takeLane(sql, channelId, options, { lane, ...waiting, reason }, now);
    until = nextDueAt(until, collecting);
  }
  const heldUntil = await sql.value<number>`
    SELECT min(due_at) FROM alerts WHERE channel_id = ${channelId} AND state = 'waiting' AND hold IS NOT NULL`;
  return { until: nextDueAt(until, heldUntil), burst: until !== null };
}

async function takeLane(
  sql: Sql,
  channelId: string,
  { limit, alone }: ClaimOptions,
  taken: Omit<DueAlerts, 'alerts' | 'transactions'>,
  now: number,
): Promise<DueAlerts> {
  const those = due(channelId, taken.lane, now);
  const first = await readAlerts(sql, part`${those} ORDER BY a.due_at, a.id LIMIT ${limit}`);
  const transactions = await sql.value<number>`
    SELECT count(*) FROM (
      SELECT DISTINCT t.network, t.tx_hash FROM alerts a JOIN transfers t ON t.id = a.transfer_id ${those}
      LIMIT ${BACKLOG_TRANSACTIONS + 1}) AS hashes`;
  const alerts = alone
    ? first
    : byTransaction([...first, ...(await companions(sql, channelId, taken.lane.hold, now, first))]);
  return { ...taken, alerts, transactions: transactions! };
}

/** The other due alerts of the same transactions, whether they are significant or not. */
async function companions(
  sql: Sql,
  channelId: string,
  hold: Lane['hold'],
  now: number,
  alerts: readonly Alert[],
): Promise<Alert[]> {
  const ids = await sql.list<number>`
    SELECT id FROM (
      SELECT a.id, row_number() OVER (PARTITION BY t.network, t.tx_hash ORDER BY a.id) AS place
      ${ofSameTransactions(alerts)} AND a.channel_id = ${channelId}
        AND a.state = 'waiting' AND a.hold IS NOT DISTINCT FROM ${hold} AND a.due_at <= ${now}) AS same
    WHERE place <= ${MAX_OF_ONE_TRANSACTION} ORDER BY id`;
  const known = new Set(alerts.map(({ id }) => id));
  const others = ids.filter((id) => !known.has(id));
  return others.length === 0 ? [] : alertsById(sql, others);
}

/** Until when alerts of a busy channel, significant or not, are collected for a digest; null: they are posted one by one. */
export async function collectingUntil(
  sql: Sql,
  channelId: string,
  isSignificant: boolean,
  now: number,
): Promise<number | null> {
  // Sent messages whose alerts may make a burst: they show single ones, or are a burst's digest.
  const those = part`b.channel_id = ${channelId} AND b.state = 'sent' AND b.significant = ${isSignificant}
    AND (b.kind = 'create' OR b.digest_reason = 'burst')`;
  const lastAt = await sql.value<number>`
    SELECT sent_at FROM batches b WHERE ${those} AND sent_at IS NOT NULL ORDER BY sent_at DESC LIMIT 1`;
  if (lastAt === null) return null;
  const counted = async (what: Part, join: Part) =>
    (await sql.value<number>`
      SELECT count(*) FROM (
        SELECT ${what} FROM batches b JOIN alerts a ON a.batch_id = b.id ${join}
        WHERE ${those} AND b.sent_at > ${lastAt - BURST_WINDOW_MS} LIMIT ${BURST_ALERTS + 1}) AS shown`)!;
  // A cheap count first: only a busy channel's transactions have to be looked at.
  if ((await counted(part`b.id`, part``)) <= BURST_ALERTS) return null;
  // Alerts of one transaction count once, because they are posted as one.
  const transactions = part`JOIN transfers t ON t.id = a.transfer_id`;
  const alerts = await counted(part`DISTINCT b.id, t.network, t.tx_hash`, transactions);
  const digests = await sql.value<number>`
    SELECT count(*) FROM batches b
    WHERE ${those} AND digest_reason = 'burst' AND sent_at > ${lastAt - BURST_DIGESTS_MS}`;
  return burstUntil({ alerts, digests: digests!, lastAt }, now);
}
