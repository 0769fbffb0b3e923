import type { DeadLetter, MessageRef } from '../../domain/batch.ts';
import { isIn, part, type QueriesOf, remove, report, type Sql, update, write } from '../sql.ts';
import type { DeadLetters } from '../store.ts';
import { addEdit } from './edits.ts';

const SELECT = part`SELECT d.id, d.kind, d.alert_id, d.channel_id, d.reason, d.payload, d.at, t.data AS transfer_json
  FROM dead_letters d JOIN alerts a ON a.id = d.alert_id JOIN transfers t ON t.id = a.transfer_id`;

/** Alerts and edits that could not be posted, until somebody replays or discards them. */
export const deadLetters: QueriesOf<DeadLetters> = {
  list: report((sql, limit) => sql.all`${SELECT} ORDER BY d.id LIMIT ${limit}`),

  replay: write(async (sql, id, now) => {
    const found = await sql.get<DeadLetter>`${SELECT} WHERE d.id = ${id}`;
    if (!found || !(await putBack(sql, found, now))) return false;
    await remove(sql, 'dead_letters', { id });
    await sql.run`UPDATE channels SET due_at = ${now} WHERE channel_id = ${found.channelId} AND due_at > ${now}`;
    return true;
  }),

  discard: write(async (sql, ids, now) => {
    await sql.run`
      UPDATE alerts SET discarded_at = ${now} WHERE state = 'dead'
        AND id IN (SELECT alert_id FROM dead_letters WHERE id ${isIn(ids)})`;
    return sql.run`DELETE FROM dead_letters WHERE id ${isIn(ids)}`;
  }),
};

/** A message that was sent is edited, not posted again. */
async function putBack(sql: Sql, { kind, alertId }: DeadLetter, now: number): Promise<boolean> {
  if (kind === 'alert') {
    const waiting = { state: 'waiting', batchId: null, hold: null, dueAt: 0 };
    return (await update(sql, 'alerts', { id: alertId }, waiting)) > 0;
  }
  const message = await sql.get<MessageRef>`
    SELECT channel_id, reference FROM batches WHERE id = (SELECT batch_id FROM alerts WHERE id = ${alertId})`;
  if (!message) return false;
  await addEdit(sql, { ...message, editKind: 'change', payload: null, attempts: 0, now });
  return true;
}
