import type { Alert } from '../../domain/alert.ts';
import {
  BACKLOG_TRANSACTIONS,
  type Batch,
  BURST_ALERTS,
  BURST_DIGESTS_MS,
  BURST_WINDOW_MS,
  burstUntil,
  type ClaimOptions,
  collectedFor,
  type DueAlerts,
  type Lane,
  MAX_OF_ONE_TRANSACTION,
  MAX_SHOWN,
  type NextMessage,
  nextDueAt,
  type Original,
  type ShownDeliveries,
  shownDeliveries,
} from '../../domain/batch.ts';
import type { ChannelHead } from '../../domain/guild.ts';
import { isIn, type Part, part, raw, type Sql } from '../sql.ts';
import { alertsById, alertsOfBatch, byTransaction, ofSameTransactions, readAlerts } from './alerts.ts';
import { joinable } from './edits.ts';

type Group = Lane & Pick<DueAlerts, 'waiting' | 'oldest'>;

const due = (channelId: string, { hold, isSignificant }: Lane, now: number) =>
  part`WHERE a.channel_id = ${channelId} AND a.state = 'waiting' AND a.hold IS NOT DISTINCT FROM ${hold}
    AND a.due_at <= ${now}
    AND (a.hold IS NOT NULL OR a.significant = ${isSignificant})`;

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
 * The significant alerts first; if none are due, when the next ones are (null: none wait). Unless `alone` is set, adds
 * the other alerts of the same transactions, also beyond `limit`.
 */
async function nextDue(
  sql: Sql,
  channelId: string,
  options: ClaimOptions,
  now: number,
): Promise<DueAlerts | { until: number | null; isCollecting: boolean }> {
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
  return { until: nextDueAt(until, heldUntil), isCollecting: until !== null };
}

async function takeLane(
  sql: Sql,
  channelId: string,
  { limit, withoutCompanions }: ClaimOptions,
  taken: Omit<DueAlerts, 'alerts' | 'transactions'>,
  now: number,
): Promise<DueAlerts> {
  const those = due(channelId, taken.lane, now);
  const first = await readAlerts(sql, part`${those} ORDER BY a.due_at, a.id LIMIT ${limit}`);
  const transactions = await sql.value<number>`
    SELECT count(*) FROM (
      SELECT DISTINCT t.network, t.tx_hash FROM alerts a JOIN transfers t ON t.id = a.transfer_id ${those}
      LIMIT ${BACKLOG_TRANSACTIONS + 1}) AS hashes`;
  if (withoutCompanions) return { ...taken, alerts: first, transactions: transactions! };
  const companions = await sql.list<number>`
    SELECT id FROM (
      SELECT a.id, row_number() OVER (PARTITION BY t.network, t.tx_hash ORDER BY a.id) AS place
      ${ofSameTransactions(first)} AND a.channel_id = ${channelId}
        AND a.state = 'waiting' AND a.hold IS NOT DISTINCT FROM ${taken.lane.hold} AND a.due_at <= ${now}) AS same
    WHERE place <= ${MAX_OF_ONE_TRANSACTION} AND NOT (id ${isIn(first.map(({ id }) => id))}) ORDER BY id`;
  const others = companions.length === 0 ? [] : await alertsById(sql, companions);
  return { ...taken, alerts: byTransaction([...first, ...others]), transactions: transactions! };
}

/** null: alerts are posted one by one. */
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

const HEAD_COLUMNS = raw(`c.channel_id, c.guild_id, c.state, c.due_at, c.attempts, c.since,
  EXISTS (SELECT 1 FROM guild_removals r WHERE r.guild_id = c.guild_id) AS removed_flag`);

export const channelsWithWork = (sql: Sql) =>
  sql.all<ChannelHead & { sleepUntil: number }>`
    SELECT ${HEAD_COLUMNS}, w.due_at AS sleep_until
    FROM (SELECT channel_id, min(due_at) AS due_at FROM (
            SELECT channel_id, min(due_at) AS due_at FROM alerts WHERE state = 'waiting' GROUP BY channel_id
            UNION ALL SELECT DISTINCT channel_id, 0 FROM batches WHERE state = 'frozen') AS work GROUP BY channel_id) w
    JOIN channels c ON c.channel_id = w.channel_id ORDER BY c.channel_id`;

export async function claim(sql: Sql, channelId: string, options: ClaimOptions, now: number) {
  const head = await sql.get<ChannelHead>`SELECT ${HEAD_COLUMNS} FROM channels c WHERE c.channel_id = ${channelId}`;
  if (!head) return null;
  const frozen = await sql.get<{ message: number | null; edit: number | null }>`
    SELECT min(id) FILTER (WHERE edit_kind IS NULL OR edit_kind = 'join') AS message,
      min(id) FILTER (WHERE edit_kind <> 'join') AS edit
    FROM batches WHERE state = 'frozen' AND channel_id = ${channelId}`;
  const { message, edit } = frozen!;
  if (message !== null) return { head, next: await takeUp(sql, message, now) };
  const found = await nextDue(sql, channelId, options, now);
  if ('alerts' in found) {
    // In its own message, each alert would show half of a swap.
    const isSingle = found.reason === null && !options.withoutCompanions;
    const joins = isSingle ? await joinable(sql, channelId, found.alerts, found.lane.isSignificant, now) : [];
    return { head, next: { status: 'alerts' as const, joins, ...found } };
  }
  if (edit !== null && options.mayEdit) return { head, next: await takeUp(sql, edit, now) };
  return { head, next: { status: 'nothing' as const, ...found, edit: edit !== null } };
}

async function takeUp(sql: Sql, id: number, now: number): Promise<NextMessage> {
  const found = await sql.get<Batch>`
    SELECT id, channel_id, kind, nonce, reference, payload, attachment, attempts, unconfirmed AS unconfirmed_flag,
      frozen_at, first_sent_at, message_id
    FROM batches WHERE id = ${id}`;
  const batch = found!;
  if (batch.kind !== 'edit') return { status: 'batch', batch, ...(await frozenAlerts(sql, id)), original: null };
  await countAttempt(sql, id, now);
  const edited = await sql.get<OriginalRow>`
    SELECT id, message_id, digest_reason AS reason, plain_text AS plain_text_flag, payload, alert_count, kind
    FROM batches WHERE reference = ${batch.reference} AND kind IN ('create', 'digest')`;
  const isJoin = edited && batch.payload !== null;
  const joining = isJoin ? await frozenAlerts(sql, edited.id) : { alerts: 0, shown: shownDeliveries([]) };
  return { status: 'batch', batch, ...joining, original: edited ? await originalOf(sql, edited) : null };
}

/** The outcome is unconfirmed until it is known. */
export async function countAttempt(sql: Sql, batchId: number, now: number): Promise<void> {
  await sql.run`
    UPDATE batches SET attempts = attempts + 1, unconfirmed = 1, first_sent_at = coalesce(first_sent_at, ${now})
    WHERE id = ${batchId}`;
}

/** The alerts of a frozen message; of a sent one, those that are about to join it. */
async function frozenAlerts(sql: Sql, batchId: number): Promise<{ alerts: number; shown: ShownDeliveries }> {
  const ofBatch = part`
    FROM alerts a JOIN transfers t ON t.id = a.transfer_id WHERE a.batch_id = ${batchId} AND a.state = 'frozen'`;
  const counted = await sql.get<{ n: number; oldest: number | null }>`
    SELECT count(*) AS n, min(t.seen_at) FILTER (WHERE a.hold IS NULL) AS oldest ${ofBatch}`;
  const first = await sql.all<{ inboxId: number | null; txHash: string }>`
    SELECT a.inbox_id, t.tx_hash ${ofBatch} ORDER BY a.id LIMIT ${MAX_SHOWN}`;
  const shown = {
    inboxIds: first.flatMap(({ inboxId }) => inboxId ?? []),
    txHashes: [...new Set(first.map(({ txHash }) => txHash))],
    receivedAt: counted!.oldest,
  };
  return { alerts: counted!.n, shown };
}

type OriginalRow = Omit<Original, 'alerts' | 'ids'> & { id: number; alertCount: number; kind: 'create' | 'digest' };

async function originalOf(sql: Sql, { id, alertCount, kind, ...message }: OriginalRow): Promise<Original | null> {
  const ids = await sql.list<number>`SELECT id FROM alerts WHERE batch_id = ${id} ORDER BY due_at, id`;
  // Some alerts may have been deleted. The message would then show too few.
  if (ids.length < alertCount) return null;
  if (kind === 'create') return { ...message, alerts: await alertsOfBatch(sql, id), ids: [] };
  return { ...message, alerts: [], ids };
}
