import type { NewBatch } from '../../domain/batch.ts';
import { type Hold, MAX_HOLD_MS } from '../../domain/hold.ts';
import { alertsById, areAsRendered } from './alerts.ts';
import { claimMethods } from './claims.ts';
import type { Connection, Statements } from './connection.ts';
import { deadLetterMethods } from './dead-lettering.ts';
import { pageOfDue } from './due.ts';
import { assign, editMethods } from './edits.ts';

/** Alerts, the messages made of them, and their channels. */
export function outboxTable(db: Connection) {
  return {
    ...claimMethods(db),
    ...editMethods(db),
    ...deadLetterMethods(db),

    due: (channelId: string, hold: Hold | null, now: number, after: number, limit: number) =>
      db.read((sql) => pageOfDue(sql, channelId, hold, now, after, limit)),

    alerts: (ids: number[]) => db.read((sql) => alertsById(sql, ids)),

    freeze: (batch: NewBatch, now: number) => db.write((sql) => freeze(sql, batch, now)),

    markNotSent: (batchId: number) =>
      db.writeUnsynced(async (sql) => {
        await sql.run('UPDATE batches SET unconfirmed = FALSE WHERE id = $1', batchId);
      }),

    /** If the server fails before this is on its disk, the message is sent again with the same nonce, or searched for. */
    markSent: (batchId: number, messageId: string | null, now: number) =>
      db.writeUnsynced((sql) => markSent(sql, batchId, messageId, now)),

    unfreeze: (batchId: number) => db.write((sql) => unfreeze(sql, batchId)),

    endLongHolds: (now: number) =>
      db.write(async (sql) => {
        await sql.run(
          "UPDATE alerts SET due_at = 0 WHERE state = 'waiting' AND hold IS NOT NULL AND due_at > $1",
          now + MAX_HOLD_MS,
        );
      }),
  };
}

async function freeze(
  sql: Statements,
  { alerts, mentioning, ...batch }: NewBatch,
  now: number,
): Promise<number | null> {
  if (!(await areAsRendered(sql, alerts, true))) return null;
  const row = await sql.get<{ id: number }>(
    `INSERT INTO batches (channel_id, kind, digest_reason, nonce, reference, payload, plain_text, attachment, alert_count, state,
       attempts, unconfirmed, frozen_at, first_sent_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'frozen', 1, TRUE, $10, $10) RETURNING id`,
    batch.channelId,
    batch.kind,
    batch.reason,
    batch.nonce,
    batch.reference,
    batch.payload,
    batch.plainText,
    batch.attachment,
    batch.kind === 'digest' ? alerts.length : null,
    now,
  );
  await assign(sql, row!.id, alerts);
  if (mentioning.length > 0) {
    await sql.run('UPDATE subscriptions SET mentioned_at = $1 WHERE id = ANY($2::bigint[])', now, mentioning);
  }
  return row!.id;
}

async function markSent(sql: Statements, batchId: number, messageId: string | null, now: number): Promise<boolean> {
  await sql.run(
    "UPDATE batches SET state = 'sent', sent_at = $2, message_id = coalesce($3, message_id) WHERE id = $1",
    batchId,
    now,
    messageId,
  );
  await sql.run("UPDATE alerts SET state = 'sent' WHERE batch_id = $1", batchId);
  const left = await sql.get<{ more: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM alerts WHERE channel_id = b.channel_id AND state = 'waiting')
       OR EXISTS (SELECT 1 FROM batches WHERE channel_id = b.channel_id AND state = 'frozen') AS more
     FROM batches b WHERE id = $1`,
    batchId,
  );
  return left?.more ?? false;
}

async function unfreeze(sql: Statements, batchId: number): Promise<void> {
  // A dissolved message mentions nobody, so the cooldown that it began ends.
  await sql.run(
    `UPDATE subscriptions SET mentioned_at = NULL
     FROM (SELECT guild_id, channel_id, frozen_at FROM batches JOIN channels USING (channel_id) WHERE id = $1) frozen
     WHERE subscriptions.guild_id = frozen.guild_id AND subscriptions.channel_id = frozen.channel_id
       AND mentioned_at = frozen.frozen_at`,
    batchId,
  );
  await sql.run("UPDATE alerts SET state = 'waiting', batch_id = NULL WHERE batch_id = $1", batchId);
  await sql.run('DELETE FROM batches WHERE id = $1', batchId);
}
