import {
  type Batch,
  type ClaimOptions,
  MAX_SHOWN,
  type NextMessage,
  type OldestFrozen,
  type Original,
  type ShownDeliveries,
  sendingOrder,
  shownDeliveries,
} from '../../domain/batch.ts';
import type { ChannelHead } from '../../domain/guild.ts';
import { part, raw, type Sql } from '../sql.ts';
import { alertsOfBatch } from './alerts.ts';
import { nextDue } from './due.ts';
import { joinable } from './edits.ts';

/** What a channel is sent next. */

const HEAD_COLUMNS = raw('c.channel_id, c.guild_id, c.state, c.due_at, c.attempts, c.since');

/** Every channel with something to send. A frozen message can be sent at once, an alert when it is due. */
export const channelsWithWork = (sql: Sql) =>
  sql.all<ChannelHead & { sleepUntil: number }>`
    SELECT ${HEAD_COLUMNS}, w.due_at AS sleep_until
    FROM (SELECT channel_id, min(due_at) AS due_at FROM (
            SELECT channel_id, min(due_at) AS due_at FROM alerts WHERE state = 'waiting' GROUP BY channel_id
            UNION ALL SELECT DISTINCT channel_id, 0 FROM batches WHERE state = 'frozen') AS work GROUP BY channel_id) w
    JOIN channels c ON c.channel_id = w.channel_id ORDER BY c.channel_id`;

export async function claim(sql: Sql, channelId: string, options: ClaimOptions, now: number) {
  const head = await sql.get<ChannelHead>`SELECT ${HEAD_COLUMNS} FROM channels c WHERE c.channel_id = ${channelId}`;
  return { head: head ?? null, next: await nextOf(sql, channelId, options, now) };
}

async function nextOf(sql: Sql, channelId: string, options: ClaimOptions, now: number): Promise<NextMessage> {
  const oldest = await sql.get<OldestFrozen>`
    SELECT min(id) FILTER (WHERE edit_kind IS NULL OR edit_kind = 'join') AS message,
      min(id) FILTER (WHERE edit_kind = 'change') AS change, min(id) FILTER (WHERE edit_kind = 'label') AS label
    FROM batches WHERE state = 'frozen' AND channel_id = ${channelId}`;
  const order = sendingOrder(oldest!, options.mayChange);
  if (order.beforeAlerts !== null) return takeUp(sql, order.beforeAlerts, now);
  const found = await nextDue(sql, channelId, options, now);
  if ('alerts' in found) {
    // In its own message, each alert would show half of a swap.
    const isSingle = found.reason === null && !options.alone;
    const joins = isSingle ? await joinable(sql, channelId, found.alerts, found.lane.isSignificant, now) : [];
    return { status: 'alerts', joins, ...found };
  }
  if (order.afterAlerts !== null) return takeUp(sql, order.afterAlerts, now);
  return { status: 'nothing', until: found.until, change: order.waits, burst: found.burst };
}

/** Returns a frozen batch to be sent; an edit includes the message that it edits. */
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

/** Counts an attempt, which makes its outcome unconfirmed until it is known. */
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
  // Some of its alerts may have been deleted by now. The message would then show too few.
  if (ids.length < alertCount) return null;
  if (kind === 'create') return { ...message, alerts: await alertsOfBatch(sql, id), ids: [] };
  return { ...message, alerts: [], ids };
}
