import type { Database } from 'better-sqlite3';
import type { Alert } from '../../domain/alert.ts';
import {
  type Batch,
  type ClaimOptions,
  type Joinable,
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
import { alertReader } from './alerts.ts';
import type { dueAlerts } from './due.ts';
import type { editTables } from './edits.ts';

/** A row of each kind of message. */
type Row<Of> = Of extends Batch ? Omit<Of, 'unconfirmed'> & { unconfirmed: 0 | 1 } : never;
type BatchRow = Row<Batch>;

interface OriginalRow extends Pick<Original, 'messageId' | 'reason' | 'payload'> {
  id: number;
  plainText: 0 | 1;
  alertCount: number | null;
}

const BATCH_COLUMNS = `id, channel_id AS channelId, kind, nonce, reference, payload, attachment, attempts, unconfirmed,
  frozen_at AS frozenAt, first_sent_at AS firstSentAt, message_id AS messageId`;

/** What a channel is sent next. */
export function claimTable(db: Database, due: ReturnType<typeof dueAlerts>, edits: ReturnType<typeof editTables>) {
  const { takeUp, countAttempt } = frozenBatches(db);
  // A frozen message can be sent at once, an alert when it is due.
  const heads = db.prepare<[], ChannelHead & { sleepUntil: number }>(
    `SELECT c.channel_id AS channelId, guild_id AS guildId, state, c.due_at AS dueAt, attempts, since,
       min(w.due_at) AS sleepUntil
     FROM (SELECT channel_id, min(due_at) AS due_at FROM alerts WHERE state = 'waiting' GROUP BY channel_id
           UNION ALL SELECT DISTINCT channel_id, 0 FROM batches WHERE state = 'frozen') w
     JOIN channels c USING (channel_id) GROUP BY c.channel_id`,
  );
  const channelHead = db.prepare<[string], ChannelHead>(
    `SELECT channel_id AS channelId, guild_id AS guildId, state, due_at AS dueAt, attempts, since FROM channels
     WHERE channel_id = ?`,
  );
  const oldestFrozen = db.prepare<[string], OldestFrozen>(`${OLDEST_FROZEN} AND channel_id = ?`);
  const batch = db.prepare<[number], BatchRow>(`SELECT ${BATCH_COLUMNS} FROM batches WHERE id = ?`);

  /** The messages that some of these alerts may join. In its own message, each would show half of a swap. */
  function joinable(channelId: string, alerts: Alert[], now: number): Joinable[] {
    const hashes = [...new Set(alerts.map(({ transfer }) => transfer.txHash))];
    return hashes.flatMap((txHash) => edits.joinable(channelId, txHash, now) ?? []);
  }

  function nextOf(channelId: string, options: ClaimOptions, now: number): NextMessage {
    const order = sendingOrder(oldestFrozen.get(channelId)!, options.mayChange);
    if (order.beforeAlerts !== null) return takeUp(batch.get(order.beforeAlerts)!, now);
    const found = due.next(channelId, options, now);
    if ('alerts' in found) {
      const single = found.reason === null && !options.alone;
      return { status: 'alerts', joins: single ? joinable(channelId, found.alerts, now) : [], ...found };
    }
    if (order.afterAlerts !== null) return takeUp(batch.get(order.afterAlerts)!, now);
    return { status: 'nothing', until: found.until, change: order.waits, burst: found.burst };
  }

  // One transaction, because each statement outside of one takes and releases a lock. Immediate, because an edit's attempt
  // is counted in it: SQLite refuses a write after a read when another process has written in between.
  const claim = db.transaction((channelId: string, options: ClaimOptions, now: number) => ({
    head: channelHead.get(channelId) ?? null,
    next: nextOf(channelId, options, now),
  }));
  return {
    channelsWithWork: () => heads.all(),
    claim: (channelId: string, options: ClaimOptions, now: number) => claim.immediate(channelId, options, now),
    countAttempt,
  };
}

/** Messages that were rendered: each is sent again until its outcome is known. */
function frozenBatches(db: Database) {
  const { ofBatch, idsOfBatch } = alertReader(db);
  const originalOf = db.prepare<[string], OriginalRow>(
    `SELECT id, message_id AS messageId, digest_reason AS reason, plain_text AS plainText, payload, alert_count AS alertCount FROM batches
     WHERE reference = ? AND kind IN ('create', 'digest')`,
  );
  const sizeOf = db.prepare<[number], { n: number }>(
    "SELECT count(*) AS n FROM alerts WHERE batch_id = ? AND state = 'frozen'",
  );
  const shownBy = db.prepare<[number, number], { inboxId: number | null; txHash: string }>(
    `SELECT a.inbox_id AS inboxId, t.tx_hash AS txHash FROM alerts a JOIN transfers t ON t.id = a.transfer_id
     WHERE a.batch_id = ? AND a.state = 'frozen' ORDER BY a.id LIMIT ?`,
  );
  const oldestOf = db
    .prepare<[number], number | null>(
      `SELECT min(t.seen_at) FROM alerts a JOIN transfers t ON t.id = a.transfer_id
       WHERE a.batch_id = ? AND a.state = 'frozen' AND a.hold IS NULL`,
    )
    .pluck();
  const attempt = db.prepare<[number, number]>(
    'UPDATE batches SET attempts = attempts + 1, unconfirmed = 1, first_sent_at = coalesce(first_sent_at, ?) WHERE id = ?',
  );
  const countAttempt = (batchId: number, now: number): void => void attempt.run(now, batchId);

  /** Returns a frozen batch to be sent; an edit includes the message that it edits. */
  function takeUp(row: BatchRow, now: number): NextMessage {
    const batch: Batch = { ...row, unconfirmed: row.unconfirmed === 1 };
    if (batch.kind !== 'edit') return { status: 'batch', batch, ...frozenAlerts(batch.id), original: null };
    countAttempt(batch.id, now);
    const edited = originalOf.get(batch.reference);
    const joining =
      edited && batch.payload !== null ? frozenAlerts(edited.id) : { alerts: 0, shown: shownDeliveries([]) };
    return { status: 'batch', batch, ...joining, original: edited ? original(edited) : null };
  }

  /** The alerts of a frozen message; of a sent one, those that are about to join it. */
  function frozenAlerts(batchId: number): { alerts: number; shown: ShownDeliveries } {
    const rows = shownBy.all(batchId, MAX_SHOWN);
    const shown = {
      inboxIds: rows.flatMap(({ inboxId }) => inboxId ?? []),
      txHashes: [...new Set(rows.map(({ txHash }) => txHash))],
      receivedAt: oldestOf.get(batchId) ?? null,
    };
    return { alerts: sizeOf.get(batchId)!.n, shown };
  }

  function original({ id, alertCount, plainText, ...rest }: OriginalRow): Original | null {
    const message = { ...rest, plainText: plainText === 1 };
    if (alertCount === null) return { ...message, alerts: ofBatch(id), ids: [] };
    const ids = idsOfBatch(id);
    // Some of a digest's alerts may have been deleted by now. The digest would then count too few.
    return ids.length < alertCount ? null : { ...message, alerts: [], ids };
  }

  return { takeUp, countAttempt };
}
