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
import type { ChannelHead } from '../../domain/channel.ts';
import { OLDEST_FROZEN } from '../sql/rows.ts';
import { alertsOfBatch } from './alerts.ts';
import type { Connection, Statements } from './connection.ts';
import { nextDue } from './due.ts';
import { joinable } from './edits.ts';

const HEAD_COLUMNS = `c.channel_id AS "channelId", guild_id AS "guildId", state, c.due_at AS "dueAt", attempts, since`;

const BATCH_COLUMNS = `id, channel_id AS "channelId", kind, nonce, reference, payload, attachment, attempts, unconfirmed,
  frozen_at AS "frozenAt", first_sent_at AS "firstSentAt", message_id AS "messageId"`;

interface OriginalRow extends Omit<Original, 'alerts' | 'ids'> {
  id: number;
  alertCount: number | null;
}

/** What a channel is sent next. */
export function claimMethods(db: Connection) {
  return {
    /** A frozen message can be sent at once, an alert when it is due. */
    channelsWithWork: () =>
      db.reads.all<ChannelHead & { sleepUntil: number }>(
        `SELECT ${HEAD_COLUMNS}, w.due_at AS "sleepUntil"
         FROM (SELECT channel_id, min(due_at) AS due_at FROM (
                 SELECT channel_id, due_at FROM alerts WHERE state = 'waiting'
                 UNION ALL SELECT channel_id, 0 FROM batches WHERE state = 'frozen') AS work GROUP BY channel_id) w
         JOIN channels c USING (channel_id) ORDER BY c.channel_id`,
      ),

    claim: (channelId: string, options: ClaimOptions, now: number) =>
      db.write(async (sql) => ({
        head: (await headOf(sql, channelId)) ?? null,
        next: await nextOf(sql, channelId, options, now),
      })),

    countAttempt: (batchId: number, now: number) => db.write((sql) => countAttempt(sql, batchId, now)),
  };
}

const headOf = (sql: Statements, channelId: string) =>
  sql.get<ChannelHead>(`SELECT ${HEAD_COLUMNS} FROM channels c WHERE c.channel_id = $1`, channelId);

async function nextOf(sql: Statements, channelId: string, options: ClaimOptions, now: number): Promise<NextMessage> {
  const oldest = await sql.get<OldestFrozen>(`${OLDEST_FROZEN} AND channel_id = $1`, channelId);
  const order = sendingOrder(oldest!, options.mayChange);
  if (order.beforeAlerts !== null) return takeUp(sql, order.beforeAlerts, now);
  const found = await nextDue(sql, channelId, options, now);
  if ('alerts' in found) {
    const isSingle = found.reason === null && !options.alone;
    // In its own message, each alert would show half of a swap.
    const hashes = [...new Set(found.alerts.map(({ transfer }) => transfer.txHash))];
    return { status: 'alerts', joins: isSingle ? await joinable(sql, channelId, hashes, now) : [], ...found };
  }
  if (order.afterAlerts !== null) return takeUp(sql, order.afterAlerts, now);
  return { status: 'nothing', until: found.until, change: order.waits, burst: found.burst };
}

/** Returns a frozen batch to be sent; an edit includes the message that it edits. */
async function takeUp(sql: Statements, id: number, now: number): Promise<NextMessage> {
  const found = await sql.get<Batch>(`SELECT ${BATCH_COLUMNS} FROM batches WHERE id = $1`, id);
  const batch = found!;
  if (batch.kind !== 'edit') return { status: 'batch', batch, ...(await frozenAlerts(sql, batch.id)), original: null };
  await countAttempt(sql, batch.id, now);
  const edited = await sql.get<OriginalRow>(
    `SELECT id, message_id AS "messageId", digest_reason AS reason, plain_text AS "plainText", payload, alert_count AS "alertCount" FROM batches
     WHERE reference = $1 AND kind IN ('create', 'digest')`,
    batch.reference,
  );
  const isJoin = edited && batch.payload !== null;
  const joining = isJoin ? await frozenAlerts(sql, edited.id) : { alerts: 0, shown: shownDeliveries([]) };
  return { status: 'batch', batch, ...joining, original: edited ? await originalOf(sql, edited) : null };
}

async function countAttempt(sql: Statements, batchId: number, now: number): Promise<void> {
  await sql.run(
    `UPDATE batches SET attempts = attempts + 1, unconfirmed = TRUE, first_sent_at = coalesce(first_sent_at, $2)
     WHERE id = $1`,
    batchId,
    now,
  );
}

/** The alerts of a frozen message; of a sent one, those that are about to join it. */
async function frozenAlerts(sql: Statements, batchId: number): Promise<{ alerts: number; shown: ShownDeliveries }> {
  const size = await sql.get<{ n: number }>(
    "SELECT count(*) AS n FROM alerts WHERE batch_id = $1 AND state = 'frozen'",
    batchId,
  );
  const rows = await sql.all<{ inboxId: number | null; txHash: string }>(
    `SELECT a.inbox_id AS "inboxId", t.tx_hash AS "txHash" FROM alerts a JOIN transfers t ON t.id = a.transfer_id
     WHERE a.batch_id = $1 AND a.state = 'frozen' ORDER BY a.id LIMIT $2`,
    batchId,
    MAX_SHOWN,
  );
  const oldest = await sql.get<{ at: number | null }>(
    `SELECT min(t.seen_at) AS at FROM alerts a JOIN transfers t ON t.id = a.transfer_id
     WHERE a.batch_id = $1 AND a.state = 'frozen' AND a.hold IS NULL`,
    batchId,
  );
  const shown = {
    inboxIds: rows.flatMap(({ inboxId }) => inboxId ?? []),
    txHashes: [...new Set(rows.map(({ txHash }) => txHash))],
    receivedAt: oldest!.at,
  };
  return { alerts: size!.n, shown };
}

async function originalOf(sql: Statements, { id, alertCount, ...message }: OriginalRow): Promise<Original | null> {
  if (alertCount === null) return { ...message, alerts: await alertsOfBatch(sql, id), ids: [] };
  const rows = await sql.all<{ id: number }>('SELECT id FROM alerts WHERE batch_id = $1 ORDER BY due_at, id', id);
  // Some of a digest's alerts may have been deleted by now. The digest would then count too few.
  return rows.length < alertCount ? null : { ...message, alerts: [], ids: rows.map((alert) => alert.id) };
}
