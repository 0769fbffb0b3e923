import { WAITING_SINCE } from '../sql/alert-rows.ts';
import { KEPT_PAYLOAD } from '../sql/batch-conditions.ts';
import type { Connection, Statements } from './connection.ts';
import { editFailed } from './edits.ts';

/** Turns what will not be sent into dead letters. */
export function deadLetterMethods(db: Connection) {
  return {
    deadLetter: (batchId: number, reason: string, now: number) =>
      db.write((sql) => deadLetter(sql, batchId, reason, now)),

    async deadLetterUnrendered(alertId: number, reason: string, now: number): Promise<void> {
      await db.write((sql) =>
        sql.run(
          `WITH dead AS (
             UPDATE alerts SET state = 'dead' WHERE id = $1 AND state = 'waiting' RETURNING id, channel_id)
           INSERT INTO dead_letters (kind, alert_id, channel_id, payload, reason, at)
           SELECT 'alert', id, channel_id, NULL, $2, $3 FROM dead`,
          alertId,
          reason,
          now,
        ),
      );
    },

    expire: (channelId: string, before: number, reason: string, now: number) =>
      db.write(async (sql) => {
        // By its oldest alert, or by its own age if it has no alerts.
        const frozen = await sql.all<{ id: number }>(
          `SELECT id FROM batches b WHERE channel_id = $1 AND state = 'frozen'
             AND coalesce((SELECT min(${WAITING_SINCE}) FROM alerts WHERE batch_id = b.id), frozen_at) < $2`,
          channelId,
          before,
        );
        for (const { id } of frozen) await deadLetter(sql, id, reason, now);
        await sql.run(
          `WITH expired AS (
             UPDATE alerts SET state = 'dead' WHERE channel_id = $1 AND state = 'waiting' AND ${WAITING_SINCE} < $2
             RETURNING id, channel_id)
           INSERT INTO dead_letters (kind, alert_id, channel_id, payload, reason, at)
           SELECT 'alert', id, channel_id, NULL, $3, $4 FROM expired ORDER BY id`,
          channelId,
          before,
          reason,
          now,
        );
      }),
  };
}

async function deadLetter(sql: Statements, batchId: number, reason: string, now: number): Promise<void> {
  const batch = await sql.get<{ kind: string }>('SELECT kind FROM batches WHERE id = $1', batchId);
  if (batch?.kind === 'edit') return editFailed(sql, batchId, reason, now);
  await sql.run(
    `INSERT INTO dead_letters (kind, alert_id, channel_id, payload, reason, at)
     SELECT 'alert', a.id, a.channel_id, ${KEPT_PAYLOAD}, $2, $3
     FROM alerts a JOIN batches b ON b.id = a.batch_id WHERE a.batch_id = $1 ORDER BY a.id`,
    batchId,
    reason,
    now,
  );
  await sql.run("UPDATE alerts SET state = 'dead' WHERE batch_id = $1", batchId);
  await sql.run("UPDATE batches SET state = 'dead' WHERE id = $1", batchId);
}
