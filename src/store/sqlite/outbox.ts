import type { Database } from 'better-sqlite3';
import type { Alert } from '../../domain/alert.ts';
import {
  type Batch,
  type ClaimOptions,
  type Joinable,
  MOST_SHOWN,
  type NewBatch,
  type NextMessage,
  type Original,
  type ShownDeliveries,
} from '../../domain/batch.ts';
import type { ChannelHead } from '../../domain/channel.ts';
import { DAY } from '../../domain/clock.ts';
import type { Hold } from '../../domain/schedule.ts';
import { alertReader, renderedCheck } from './alerts.ts';
import { unsynced } from './database.ts';
import { dueAlerts } from './due.ts';
import { editTables } from './edits.ts';

type BatchRow = Omit<Batch, 'unsure'> & { unsure: 0 | 1 };

interface OriginalRow extends Pick<Original, 'messageId' | 'reason' | 'payload'> {
  id: number;
  plain: 0 | 1;
  lines: number | null;
}

const BATCH_COLUMNS = `id, channel_id AS channelId, kind, nonce, reference, payload, attachment, attempts, unsure,
  frozen_at AS frozenAt, first_sent_at AS firstSentAt, message_id AS messageId`;
/** Since when an alert counts as waiting. A held alert does not age. */
const SINCE = 'max(created_at, due_at)';

/** The longest hold: a daily digest, then quiet hours. */
const LONGEST_HOLD_MS = 3 * DAY;

/** Alerts, the messages made of them, and their channels. */
export function outboxTable(db: Database) {
  const { ofBatch, idsOfBatch, byId } = alertReader(db);
  const holds = renderedCheck(db);
  const due = dueAlerts(db);
  const edits = editTables(db);

  const endHolds = db.prepare<[number]>(
    "UPDATE alerts SET due_at = 0 WHERE state = 'waiting' AND hold IS NOT NULL AND due_at > ?",
  );
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
  // Sent before new alerts: the oldest rendered message, or else a requested change if edits are possible now. Never a
  // label.
  const frozen = db.prepare<[string, 0 | 1], BatchRow>(
    `SELECT ${BATCH_COLUMNS} FROM batches WHERE channel_id = ? AND state = 'frozen' AND edit_kind IS NOT 'label'
       AND NOT (? AND edit_kind IS 'change') ORDER BY edit_kind IS 'change', id LIMIT 1`,
  );
  // Sent when there are no new alerts: changes first, then labels.
  const changed = db.prepare<[string], BatchRow>(
    `SELECT ${BATCH_COLUMNS} FROM batches WHERE channel_id = ? AND state = 'frozen' AND edit_kind IN ('change', 'label')
     ORDER BY edit_kind, id LIMIT 1`,
  );
  const originalOf = db.prepare<[string], OriginalRow>(
    `SELECT id, message_id AS messageId, digest_reason AS reason, plain, payload, lines FROM batches WHERE reference = ? AND kind IN ('create', 'digest')`,
  );
  const sizeOf = db.prepare<[number], { n: number }>('SELECT count(*) AS n FROM alerts WHERE batch_id = ?');
  const shownBy = db.prepare<[number, number], { inboxId: number | null; txHash: string }>(
    `SELECT a.inbox_id AS inboxId, t.tx_hash AS txHash FROM alerts a JOIN transfers t ON t.id = a.transfer_id
     WHERE a.batch_id = ? ORDER BY a.id LIMIT ?`,
  );
  const oldestOf = db
    .prepare<[number], number | null>(
      `SELECT min(t.seen_at) FROM alerts a JOIN transfers t ON t.id = a.transfer_id
       WHERE a.batch_id = ? AND a.hold IS NULL`,
    )
    .pluck();
  const insertBatch = db.prepare(
    `INSERT INTO batches (channel_id, kind, digest_reason, nonce, reference, payload, plain, attachment, lines, state,
       attempts, unsure, frozen_at, first_sent_at)
     VALUES (@channelId, @kind, @reason, @nonce, @reference, @payload, @plain, @attachment, @lines, 'frozen', 1, 1, @now,
       @now)`,
  );
  const assign = db.prepare<[number, number]>("UPDATE alerts SET state = 'frozen', batch_id = ? WHERE id = ?");
  const mentioned = db.prepare<[number, number]>('UPDATE subscriptions SET mentioned_at = ? WHERE id = ?');
  // A dissolved message mentions nobody, so the cool-down that it began ends.
  const unmention = db.prepare<[number]>(
    `UPDATE subscriptions SET mentioned_at = NULL
     FROM (SELECT guild_id, channel_id, frozen_at FROM batches JOIN channels USING (channel_id) WHERE id = ?) told
     WHERE subscriptions.guild_id = told.guild_id AND subscriptions.channel_id = told.channel_id
       AND mentioned_at = told.frozen_at`,
  );
  const attempt = db.prepare<[number, number]>(
    'UPDATE batches SET attempts = attempts + 1, unsure = 1, first_sent_at = coalesce(first_sent_at, ?) WHERE id = ?',
  );
  const certain = db.prepare<[number]>('UPDATE batches SET unsure = 0 WHERE id = ?');
  const markSent = db.prepare<[number, string | null, number]>(
    "UPDATE batches SET state = 'sent', sent_at = ?, message_id = coalesce(?, message_id) WHERE id = ?",
  );
  const hasMore = db.prepare<[number], { more: 0 | 1 }>(
    `SELECT EXISTS (SELECT 1 FROM alerts WHERE channel_id = b.channel_id AND state = 'waiting')
       OR EXISTS (SELECT 1 FROM batches WHERE channel_id = b.channel_id AND state = 'frozen') AS more
     FROM batches b WHERE id = ?`,
  );
  const alertsOf = db.prepare<[string, number]>('UPDATE alerts SET state = ? WHERE batch_id = ?');
  const release = db.prepare<[number]>("UPDATE alerts SET state = 'waiting', batch_id = NULL WHERE batch_id = ?");
  const dropBatch = db.prepare<[number]>('DELETE FROM batches WHERE id = ?');
  const kindOf = db.prepare<[number], Pick<Batch, 'kind'>>('SELECT kind FROM batches WHERE id = ?');
  const markDead = db.prepare<[number]>("UPDATE batches SET state = 'dead' WHERE id = ?");
  // A digest of thousands of alerts would store as many copies of its payload.
  const addDeadLetters = db.prepare<[string, number, number]>(
    `INSERT INTO dead_letters (alert_id, channel_id, payload, reason, at)
     SELECT a.id, a.channel_id, iif(b.kind = 'digest', NULL, b.payload), ?, ?
     FROM alerts a JOIN batches b ON b.id = a.batch_id WHERE a.batch_id = ?`,
  );
  const addWaitingDeadLetters = db.prepare<[string, number, string, number]>(
    `INSERT INTO dead_letters (alert_id, channel_id, payload, reason, at)
     SELECT id, channel_id, NULL, ?, ? FROM alerts WHERE channel_id = ? AND state = 'waiting' AND ${SINCE} < ?`,
  );
  const killWaiting = db.prepare<[string, number]>(
    `UPDATE alerts SET state = 'dead' WHERE channel_id = ? AND state = 'waiting' AND ${SINCE} < ?`,
  );
  // By its oldest alert, or by its own age if it has no alerts.
  const oldFrozen = db.prepare<[string, number], { id: number }>(
    `SELECT id FROM batches b WHERE channel_id = ? AND state = 'frozen'
       AND coalesce((SELECT min(${SINCE}) FROM alerts WHERE batch_id = b.id), frozen_at) < ?`,
  );
  /** Returns a frozen batch to be sent; an edit comes with the message that it edits. */
  function takeUp(row: BatchRow, now: number): NextMessage {
    const batch: Batch = { ...row, unsure: row.unsure === 1 };
    if (batch.kind !== 'edit')
      return { status: 'batch', batch, alerts: sizeOf.get(batch.id)!.n, shown: shown(batch.id), original: null };
    attempt.run(now, batch.id);
    const nothing = { inboxIds: [], txHashes: [], receivedAt: null };
    return { status: 'batch', batch, alerts: 0, shown: nothing, original: original(batch.reference) };
  }

  function shown(batchId: number): ShownDeliveries {
    const rows = shownBy.all(batchId, MOST_SHOWN);
    return {
      inboxIds: rows.flatMap(({ inboxId }) => inboxId ?? []),
      txHashes: [...new Set(rows.map(({ txHash }) => txHash))],
      receivedAt: oldestOf.get(batchId) ?? null,
    };
  }

  function original(reference: string): Original | null {
    const row = originalOf.get(reference);
    if (!row) return null;
    const { id, lines, plain, ...rest } = row;
    const message = { ...rest, plain: plain === 1 };
    if (lines === null) return { ...message, alerts: ofBatch(id), ids: [] };
    const ids = idsOfBatch(id);
    // Some of a digest's alerts may have been deleted by now. The digest would then count too few.
    return ids.length < lines ? null : { ...message, alerts: [], ids };
  }

  /** The messages that some of these alerts may join. In its own message, each would show half of a swap. */
  function joinable(channelId: string, alerts: Alert[], now: number): Joinable[] {
    const hashes = [...new Set(alerts.map(({ transfer }) => transfer.txHash))];
    return hashes.flatMap((txHash) => edits.joinable(channelId, txHash, now) ?? []);
  }

  function nextOf(channelId: string, take: ClaimOptions, now: number): NextMessage {
    const row = frozen.get(channelId, take.mayChange ? 0 : 1);
    if (row) return takeUp(row, now);
    const found = due.next(channelId, take, now);
    if ('alerts' in found) {
      const single = found.reason === null && !take.alone;
      return { status: 'alerts', joins: single ? joinable(channelId, found.alerts, now) : [], ...found };
    }
    // New alerts come first.
    const change = changed.get(channelId);
    if (change && take.mayChange) return takeUp(change, now);
    return { status: 'nothing', until: found.until, change: change !== undefined, burst: found.burst };
  }

  // One transaction, because each statement outside of one takes and releases a lock.
  const claim = db.transaction((channelId: string, take: ClaimOptions, now: number) => ({
    head: channelHead.get(channelId) ?? null,
    next: nextOf(channelId, take, now),
  }));
  const freeze = db.transaction(({ alerts, mentioning, ...batch }: NewBatch, now: number) => {
    if (!holds(alerts, true)) return null;
    const lines = batch.kind === 'digest' ? alerts.length : null;
    const id = Number(insertBatch.run({ ...batch, plain: batch.plain ? 1 : 0, lines, now }).lastInsertRowid);
    for (const alert of alerts) assign.run(id, alert.id);
    for (const subscription of mentioning) mentioned.run(now, subscription);
    return id;
  });
  const sent = db.transaction((batchId: number, messageId: string | null, now: number) => {
    markSent.run(now, messageId, batchId);
    alertsOf.run('sent', batchId);
    return hasMore.get(batchId)?.more === 1;
  });
  const unfreeze = db.transaction((batchId: number) => {
    unmention.run(batchId);
    release.run(batchId);
    dropBatch.run(batchId);
  });
  const dead = db.transaction((batchId: number, reason: string, now: number) => {
    if (kindOf.get(batchId)?.kind === 'edit') return edits.methods.markEditFailed(batchId, reason, now);
    addDeadLetters.run(reason, now, batchId);
    alertsOf.run('dead', batchId);
    markDead.run(batchId);
  });
  const expire = db.transaction((channelId: string, before: number, reason: string, now: number) => {
    for (const { id } of oldFrozen.all(channelId, before)) dead(id, reason, now);
    addWaitingDeadLetters.run(reason, now, channelId, before);
    killWaiting.run(channelId, before);
  });
  return {
    ...edits.methods,
    endLongHolds: (now: number) => void endHolds.run(now + LONGEST_HOLD_MS),
    channelsWithWork: () => heads.all(),
    due: (channelId: string, hold: Hold | null, now: number, after: number, limit: number) =>
      due.page(channelId, hold, now, after, limit),
    alerts: (ids: number[]): Alert[] => byId(ids),
    claim: (channelId: string, take: ClaimOptions, now: number) => claim(channelId, take, now),
    freeze: (batch: NewBatch, now: number) => freeze.immediate(batch, now),
    countAttempt: (batchId: number, now: number): void => void attempt.run(now, batchId),
    markNotSent: (batchId: number): void => unsynced(db, () => void certain.run(batchId)),
    /** If the power fails before this is on disk, the message is sent again with the same nonce, or searched for. */
    markSent: (batchId: number, messageId: string | null, now: number): boolean =>
      unsynced(db, () => sent.immediate(batchId, messageId, now)),
    unfreeze: (batchId: number): void => unfreeze.immediate(batchId),
    deadLetter: (batchId: number, reason: string, now: number): void => dead.immediate(batchId, reason, now),
    expire: (channelId: string, before: number, reason: string, now: number): void =>
      expire.immediate(channelId, before, reason, now),
  };
}
