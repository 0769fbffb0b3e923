import type { Database } from 'better-sqlite3';
import type { Alert } from '../../domain/alert.ts';
import type { NewBatch } from '../../domain/batch.ts';
import { type Hold, MAX_HOLD_MS } from '../../domain/hold.ts';
import { alertReader, renderedCheck } from './alerts.ts';
import { claimTable } from './claims.ts';
import { unsynced } from './database.ts';
import { deadLetterMethods } from './dead-lettering.ts';
import { dueAlerts } from './due.ts';
import { editTables } from './edits.ts';

/** Alerts, the messages made of them, and their channels. */
export function outboxTable(db: Database) {
  const { byId } = alertReader(db);
  const holds = renderedCheck(db);
  const due = dueAlerts(db);
  const edits = editTables(db);
  const claims = claimTable(db, due, edits);
  const deadLettering = deadLetterMethods(db, edits);

  const endHolds = db.prepare<[number]>(
    "UPDATE alerts SET due_at = 0 WHERE state = 'waiting' AND hold IS NOT NULL AND due_at > ?",
  );
  const insertBatch = db.prepare(
    `INSERT INTO batches (channel_id, kind, digest_reason, nonce, reference, payload, plain_text, attachment, alert_count, state,
       attempts, unconfirmed, frozen_at, first_sent_at)
     VALUES (@channelId, @kind, @reason, @nonce, @reference, @payload, @plainText, @attachment, @alertCount, 'frozen',
       1, 1, @now, @now)`,
  );
  const assign = db.prepare<[number, number]>("UPDATE alerts SET state = 'frozen', batch_id = ? WHERE id = ?");
  const mentioned = db.prepare<[number, number]>('UPDATE subscriptions SET mentioned_at = ? WHERE id = ?');
  // A dissolved message mentions nobody, so the cooldown that it began ends.
  const unmention = db.prepare<[number]>(
    `UPDATE subscriptions SET mentioned_at = NULL
     FROM (SELECT guild_id, channel_id, frozen_at FROM batches JOIN channels USING (channel_id) WHERE id = ?) dissolved
     WHERE subscriptions.guild_id = dissolved.guild_id AND subscriptions.channel_id = dissolved.channel_id
       AND mentioned_at = dissolved.frozen_at`,
  );
  const certain = db.prepare<[number]>('UPDATE batches SET unconfirmed = 0 WHERE id = ?');
  const markSent = db.prepare<[number, string | null, number]>(
    "UPDATE batches SET state = 'sent', sent_at = ?, message_id = coalesce(?, message_id) WHERE id = ?",
  );
  const hasMore = db.prepare<[number], { more: 0 | 1 }>(
    `SELECT EXISTS (SELECT 1 FROM alerts WHERE channel_id = b.channel_id AND state = 'waiting')
       OR EXISTS (SELECT 1 FROM batches WHERE channel_id = b.channel_id AND state = 'frozen') AS more
     FROM batches b WHERE id = ?`,
  );
  const alertsSent = db.prepare<[number]>("UPDATE alerts SET state = 'sent' WHERE batch_id = ?");
  const release = db.prepare<[number]>("UPDATE alerts SET state = 'waiting', batch_id = NULL WHERE batch_id = ?");
  const dropBatch = db.prepare<[number]>('DELETE FROM batches WHERE id = ?');
  const freeze = db.transaction(({ alerts, mentioning, ...batch }: NewBatch, now: number) => {
    if (!holds(alerts, true)) return null;
    const alertCount = batch.kind === 'digest' ? alerts.length : null;
    const id = Number(
      insertBatch.run({ ...batch, plainText: batch.plainText ? 1 : 0, alertCount, now }).lastInsertRowid,
    );
    for (const alert of alerts) assign.run(id, alert.id);
    for (const subscription of mentioning) mentioned.run(now, subscription);
    return id;
  });
  const sent = db.transaction((batchId: number, messageId: string | null, now: number) => {
    markSent.run(now, messageId, batchId);
    alertsSent.run(batchId);
    return hasMore.get(batchId)?.more === 1;
  });
  const unfreeze = db.transaction((batchId: number) => {
    unmention.run(batchId);
    release.run(batchId);
    dropBatch.run(batchId);
  });
  return {
    ...edits.methods,
    endLongHolds: (now: number) => void endHolds.run(now + MAX_HOLD_MS),
    channelsWithWork: claims.channelsWithWork,
    due: (channelId: string, hold: Hold | null, now: number, after: number, limit: number) =>
      due.page(channelId, hold, now, after, limit),
    alerts: (ids: number[]): Alert[] => byId(ids),
    claim: claims.claim,
    freeze: (batch: NewBatch, now: number) => freeze.immediate(batch, now),
    countAttempt: (batchId: number, now: number): void => claims.countAttempt(batchId, now),
    markNotSent: (batchId: number): void => unsynced(db, () => void certain.run(batchId)),
    /** If the power fails before this is on disk, the message is sent again with the same nonce, or searched for. */
    markSent: (batchId: number, messageId: string | null, now: number): boolean =>
      unsynced(db, () => sent.immediate(batchId, messageId, now)),
    unfreeze: (batchId: number): void => unfreeze.immediate(batchId),
    ...deadLettering,
  };
}
