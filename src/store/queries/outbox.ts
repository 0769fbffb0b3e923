import { MAX_HOLD_MS } from '../../domain/alert.ts';
import type { DeadLetter, MessageRef, NewBatch } from '../../domain/batch.ts';
import {
  insert,
  isIn,
  type Part,
  part,
  type QueriesOf,
  raw,
  read,
  remove,
  report,
  type Sql,
  unsynced,
  update,
  write,
} from '../sql.ts';
import type { DeadLetters, Outbox } from '../store.ts';
import { alertsById, areAsRendered, assign } from './alerts.ts';
import { channelsWithWork, claim, countAttempt, pageOfDue } from './claims.ts';
import { addEdit, edited, editFailed, join, requestRerender } from './edits.ts';

/** A held alert does not age. */
export const WAITING_SINCE = raw('CASE WHEN due_at > created_at THEN due_at ELSE created_at END');

export const outbox: QueriesOf<Outbox> = {
  channelsWithWork: read(channelsWithWork),
  claim: write(claim),
  due: read(pageOfDue),
  alerts: read(alertsById),

  freeze: write(freeze),
  join: write(join),
  countAttempt: write(countAttempt),

  markNotSent: unsynced(async (sql, batchId) => {
    await update(sql, 'batches', { id: batchId }, { unconfirmed: false });
  }),

  // After a power failure the message is sent again with the same nonce, or searched for.
  markSent: unsynced(async (sql, batchId, messageId, now) => {
    await sql.run`
      UPDATE batches SET state = 'sent', sent_at = ${now}, message_id = coalesce(${messageId}, message_id),
        attachment = NULL
      WHERE id = ${batchId}`;
    await sql.run`UPDATE alerts SET state = 'sent' WHERE batch_id = ${batchId}`;
  }),

  markEdited: unsynced(edited),
  markEditFailed: write(editFailed),

  // A dissolved message mentions nobody, so the cool-down that it began ends.
  unfreeze: write(async (sql, batchId) => {
    const frozenAt = part`(SELECT frozen_at FROM batches WHERE id = ${batchId})`;
    await sql.run`
      UPDATE subscriptions SET mentioned_at = nullif(mentioned_at, ${frozenAt}),
        minor_mentioned_at = nullif(minor_mentioned_at, ${frozenAt})
      WHERE (guild_id, channel_id) IN (
        SELECT c.guild_id, c.channel_id FROM batches b JOIN channels c ON c.channel_id = b.channel_id
        WHERE b.id = ${batchId})`;
    await update(sql, 'alerts', { batchId }, { state: 'waiting', batchId: null });
    await remove(sql, 'batches', { id: batchId });
  }),

  deadLetter: write(deadLetter),

  deadLetterUnrendered: write((sql, alertId, reason, now) =>
    deadLetterWaiting(sql, part`id = ${alertId}`, reason, now),
  ),

  expire: write(async (sql, channelId, before, reason, now) => {
    const frozen = await sql.list<number>`
      SELECT id FROM batches b WHERE channel_id = ${channelId} AND state = 'frozen'
        AND coalesce((SELECT min(${WAITING_SINCE}) FROM alerts WHERE batch_id = b.id), frozen_at) < ${before}`;
    for (const id of frozen) await deadLetter(sql, id, reason, now);
    const old = part`channel_id = ${channelId} AND ${WAITING_SINCE} < ${before}`;
    await deadLetterWaiting(sql, old, reason, now);
  }),

  requestRerender: write(requestRerender),

  endLongHolds: write(async (sql, now) => {
    await sql.run`
      UPDATE alerts SET due_at = 0 WHERE state = 'waiting' AND hold IS NOT NULL AND due_at > ${now + MAX_HOLD_MS}`;
  }),
};

async function freeze(
  sql: Sql,
  { alerts, mentioning, reason: digestReason, isSignificant: significant, ...batch }: NewBatch,
  now: number,
): Promise<number | null> {
  if (!(await areAsRendered(sql, alerts, true))) return null;
  const id = await insert(sql, 'batches', {
    ...batch,
    digestReason,
    significant,
    alertCount: alerts.length,
    state: 'frozen',
    attempts: 1,
    unconfirmed: true,
    frozenAt: now,
    firstSentAt: now,
  });
  await assign(sql, id, alerts);
  for (const { subscription, isSignificant } of mentioning) {
    await update(
      sql,
      'subscriptions',
      { id: subscription },
      { [isSignificant ? 'mentionedAt' : 'minorMentionedAt']: now },
    );
  }
  return id;
}

async function deadLetter(sql: Sql, batchId: number, reason: string, now: number): Promise<void> {
  const kind = await sql.value<string>`SELECT kind FROM batches WHERE id = ${batchId}`;
  if (kind === 'edit') return editFailed(sql, batchId, reason, now);
  // A digest of thousands of alerts would store as many copies of its payload.
  await sql.run`
    INSERT INTO dead_letters (kind, alert_id, channel_id, payload, reason, at)
    SELECT 'alert', a.id, a.channel_id, CASE WHEN b.kind <> 'digest' THEN b.payload END, CAST(${reason} AS TEXT),
      CAST(${now} AS BIGINT)
    FROM alerts a JOIN batches b ON b.id = a.batch_id WHERE a.batch_id = ${batchId} ORDER BY a.id`;
  await update(sql, 'alerts', { batchId }, { state: 'dead' });
  await update(sql, 'batches', { id: batchId }, { state: 'dead' });
}

async function deadLetterWaiting(sql: Sql, which: Part, reason: string, now: number): Promise<void> {
  await sql.run`
    INSERT INTO dead_letters (kind, alert_id, channel_id, reason, at)
    SELECT 'alert', id, channel_id, CAST(${reason} AS TEXT), CAST(${now} AS BIGINT) FROM alerts
    WHERE state = 'waiting' AND ${which} ORDER BY id`;
  await sql.run`UPDATE alerts SET state = 'dead' WHERE state = 'waiting' AND ${which}`;
}

const SELECT = part`SELECT d.id, d.kind, d.alert_id, d.channel_id, d.reason, d.payload, d.at, t.data AS transfer_json
  FROM dead_letters d JOIN alerts a ON a.id = d.alert_id JOIN transfers t ON t.id = a.transfer_id`;

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
