import type { Alert } from '../../domain/alert.ts';
import {
  BACKLOG_TRANSACTIONS,
  type Batch,
  BURST_ALERTS,
  BURST_DIGESTS_MS,
  BURST_WINDOW_MS,
  burstUntil,
  type ClaimOptions,
  type DueAlerts,
  type Joinable,
  type Lane,
  MAX_OF_ONE_TRANSACTION,
  MAX_SHOWN,
  type NextMessage,
  type Original,
  type ShownDeliveries,
  shownDeliveries,
} from '../../domain/batch.ts';
import type { ChannelHead } from '../../domain/guild.ts';
import { isIn, part, raw, type Sql } from '../sql.ts';
import { alertsById, alertsOfBatch, byTransaction, ofSameTransactions, readAlerts } from './alerts.ts';
import { joinable } from './edits.ts';

type Group = Lane & Pick<DueAlerts, 'waiting' | 'oldest'>;

/** An index finds the oldest of those that are not held. */
const ofLane = (channelId: string, { hold, isSignificant }: Lane, now: number) =>
  part`WHERE a.channel_id = ${channelId} AND a.state = 'waiting' AND a.due_at <= ${now}
    AND ${hold === null ? part`a.hold IS NULL AND a.significant = ${isSignificant}` : part`a.hold = ${hold}`}`;

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
    part`${ofLane(channelId, lane, now)}
      AND (a.due_at, a.id) > (coalesce((SELECT due_at FROM alerts WHERE id = ${after}), -1), ${after})
      ORDER BY a.due_at, a.id LIMIT ${limit}`,
  );

/** Unless `withoutCompanions` is set, adds the other alerts of the same transactions, also beyond `limit`. */
async function takeLane(
  sql: Sql,
  channelId: string,
  { limit, withoutCompanions }: ClaimOptions,
  due: Omit<DueAlerts, 'alerts' | 'transactions'>,
  now: number,
): Promise<DueAlerts & { joins: Joinable[] }> {
  const { lane, waiting, reason } = due;
  const those = ofLane(channelId, lane, now);
  const first = await readAlerts(sql, part`${those} ORDER BY a.due_at, a.id LIMIT ${limit}`);
  const transactions =
    waiting === 1
      ? 1
      : await sql.value<number>`
        SELECT count(*) FROM (
          SELECT DISTINCT t.network, t.tx_hash FROM alerts a JOIN transfers t ON t.id = a.transfer_id ${those}
          LIMIT ${BACKLOG_TRANSACTIONS + 1}) AS hashes`;
  const taken = { ...due, transactions: transactions!, joins: [] };
  if (withoutCompanions) return { ...taken, alerts: first };
  // Nearly always, these are all alerts of their transactions.
  const all = await sql.value<number>`
    SELECT count(*) FROM (
      SELECT 1 ${ofSameTransactions(first)} AND a.channel_id = ${channelId} LIMIT ${first.length + 1}) AS same`;
  if (all === first.length) return { ...taken, alerts: byTransaction(first) };
  const companions = await sql.list<number>`
    SELECT id FROM (
      SELECT a.id, row_number() OVER (PARTITION BY t.network, t.tx_hash ORDER BY a.id) AS place
      ${ofSameTransactions(first)} AND a.channel_id = ${channelId}
        AND a.state = 'waiting' AND a.hold IS NOT DISTINCT FROM ${lane.hold} AND a.due_at <= ${now}) AS same
    WHERE place <= ${MAX_OF_ONE_TRANSACTION} AND NOT (id ${isIn(first.map(({ id }) => id))}) ORDER BY id`;
  const others = companions.length === 0 ? [] : await alertsById(sql, companions);
  const alerts = byTransaction([...first, ...others]);
  // In its own message, each alert would show half of a swap.
  const joins = reason === null ? await joinable(sql, channelId, alerts, lane.isSignificant, now) : [];
  return { ...taken, alerts, joins };
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
  const latest = await sql.get<{ at: number | null; alerts: number }>`
    SELECT max(sent_at) AS at, sum(alert_count) AS alerts FROM (
      SELECT b.sent_at, b.alert_count FROM batches b WHERE ${those} AND b.sent_at > (
        SELECT max(b.sent_at) FROM batches b WHERE ${those}) - ${BURST_WINDOW_MS}
      ORDER BY b.sent_at DESC LIMIT ${BURST_ALERTS + 1}) AS shown`;
  const { at: lastAt, alerts: shown } = latest!;
  // Only a busy channel's transactions have to be looked at.
  if (lastAt === null || shown <= BURST_ALERTS) return null;
  // Alerts of one transaction count once, because they are posted as one.
  const posted = await sql.get<{ alerts: number; digests: number }>`
    SELECT (SELECT count(*) FROM (
        SELECT DISTINCT b.id, t.network, t.tx_hash
        FROM batches b JOIN alerts a ON a.batch_id = b.id JOIN transfers t ON t.id = a.transfer_id
        WHERE ${those} AND b.sent_at > ${lastAt - BURST_WINDOW_MS} LIMIT ${BURST_ALERTS + 1}) AS shown) AS alerts,
      (SELECT count(*) FROM batches b
        WHERE ${those} AND b.digest_reason = 'burst' AND b.sent_at > ${lastAt - BURST_DIGESTS_MS}) AS digests`;
  return burstUntil({ ...posted!, lastAt }, now);
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

/** A frozen message first, then alerts, the significant ones before others, then an edit. */
export async function claim(sql: Sql, channelId: string, options: ClaimOptions, now: number) {
  const found = await sql.get<ChannelHead & { message: number | null; edit: number | null }>`
    SELECT ${HEAD_COLUMNS},
      (SELECT min(id) FROM batches WHERE state = 'frozen' AND channel_id = c.channel_id
        AND (edit_kind IS NULL OR edit_kind = 'join')) AS message,
      (SELECT min(id) FROM batches WHERE state = 'frozen' AND channel_id = c.channel_id AND edit_kind <> 'join') AS edit
    FROM channels c WHERE c.channel_id = ${channelId}`;
  if (!found) return null;
  const { message, edit, ...head } = found;
  if (message !== null) return { head, next: await takeUp(sql, message, now) };
  // Held alerts come before what is not significant: they are older than later ones that were not held (due_at 0).
  const lanes = await sql.all<Group>`
    SELECT hold, CASE WHEN hold IS NULL THEN significant ELSE 0 END AS is_significant_flag, count(*) AS waiting,
      min(created_at) AS oldest
    FROM alerts WHERE channel_id = ${channelId} AND state = 'waiting' AND due_at <= ${now} GROUP BY 2, hold
    ORDER BY 2 DESC, hold IS NULL, min(due_at)`;
  let collecting: number | null = null;
  for (const { hold, isSignificant, ...waiting } of lanes) {
    const lane = { hold, isSignificant };
    const until = hold === null ? await collectingUntil(sql, channelId, isSignificant, now) : null;
    if (until === null || until <= now) {
      const due = { lane, ...waiting, reason: until === null ? hold : ('burst' as const) };
      return { head, next: { status: 'alerts' as const, ...(await takeLane(sql, channelId, options, due, now)) } };
    }
    collecting = Math.min(until, collecting ?? until);
  }
  if (edit !== null && options.mayEdit) return { head, next: await takeUp(sql, edit, now) };
  const heldUntil = await sql.value<number>`
    SELECT min(due_at) FROM alerts WHERE channel_id = ${channelId} AND state = 'waiting' AND hold IS NOT NULL`;
  const until = collecting === null ? heldUntil : Math.min(collecting, heldUntil ?? collecting);
  const nothing = { status: 'nothing' as const, until, isCollecting: collecting !== null, edit: edit !== null };
  return { head, next: nothing };
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
