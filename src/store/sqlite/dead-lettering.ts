import type { Database } from 'better-sqlite3';
import type { Batch } from '../../domain/batch.ts';
import { WAITING_SINCE } from '../sql/alert-rows.ts';
import { KEPT_PAYLOAD } from '../sql/batch-conditions.ts';
import type { editTables } from './edits.ts';

/** Turns what will not be sent into dead letters. */
export function deadLetterMethods(db: Database, edits: ReturnType<typeof editTables>) {
  const alertsOf = db.prepare<[number]>("UPDATE alerts SET state = 'dead' WHERE batch_id = ?");
  const kindOf = db.prepare<[number], Pick<Batch, 'kind'>>('SELECT kind FROM batches WHERE id = ?');
  const markDead = db.prepare<[number]>("UPDATE batches SET state = 'dead' WHERE id = ?");
  const addDeadLetters = db.prepare<[string, number, number]>(
    `INSERT INTO dead_letters (kind, alert_id, channel_id, payload, reason, at)
     SELECT 'alert', a.id, a.channel_id, ${KEPT_PAYLOAD}, ?, ?
     FROM alerts a JOIN batches b ON b.id = a.batch_id WHERE a.batch_id = ?`,
  );
  const addWaitingDeadLetters = db.prepare<[string, number, string, number]>(
    `INSERT INTO dead_letters (kind, alert_id, channel_id, payload, reason, at)
     SELECT 'alert', id, channel_id, NULL, ?, ? FROM alerts
     WHERE channel_id = ? AND state = 'waiting' AND ${WAITING_SINCE} < ?`,
  );
  const killWaiting = db.prepare<[string, number]>(
    `UPDATE alerts SET state = 'dead' WHERE channel_id = ? AND state = 'waiting' AND ${WAITING_SINCE} < ?`,
  );
  const killOne = db.prepare<[number]>("UPDATE alerts SET state = 'dead' WHERE id = ? AND state = 'waiting'");
  const addDeadLetter = db.prepare<[string, number, number]>(
    `INSERT INTO dead_letters (kind, alert_id, channel_id, payload, reason, at)
     SELECT 'alert', id, channel_id, NULL, ?, ? FROM alerts WHERE id = ?`,
  );
  // By its oldest alert, or by its own age if it has no alerts.
  const oldFrozen = db.prepare<[string, number], { id: number }>(
    `SELECT id FROM batches b WHERE channel_id = ? AND state = 'frozen'
       AND coalesce((SELECT min(${WAITING_SINCE}) FROM alerts WHERE batch_id = b.id), frozen_at) < ?`,
  );

  const dead = db.transaction((batchId: number, reason: string, now: number) => {
    if (kindOf.get(batchId)?.kind === 'edit') return edits.methods.markEditFailed(batchId, reason, now);
    addDeadLetters.run(reason, now, batchId);
    alertsOf.run(batchId);
    markDead.run(batchId);
  });
  const unrendered = db.transaction((alertId: number, reason: string, now: number) => {
    if (killOne.run(alertId).changes > 0) addDeadLetter.run(reason, now, alertId);
  });
  const expire = db.transaction((channelId: string, before: number, reason: string, now: number) => {
    for (const { id } of oldFrozen.all(channelId, before)) dead(id, reason, now);
    addWaitingDeadLetters.run(reason, now, channelId, before);
    killWaiting.run(channelId, before);
  });
  return {
    deadLetter: (batchId: number, reason: string, now: number): void => dead.immediate(batchId, reason, now),
    deadLetterUnrendered: (alertId: number, reason: string, now: number): void =>
      unrendered.immediate(alertId, reason, now),
    expire: (channelId: string, before: number, reason: string, now: number): void =>
      expire.immediate(channelId, before, reason, now),
  };
}
