import { type Alert, type AlertTarget, type RenderedAlert, transactionOf } from '../../domain/alert.ts';
import { covers, type EditKind, JOIN_MS, type Joinable, type MessageRef } from '../../domain/batch.ts';
import { insert, isIn, part, type Sql } from '../sql.ts';
import { alertsOfBatch, areAsRendered, assign, ofSameTransactions } from './alerts.ts';

/** A batch of kind `edit` has the reference of the message that it edits. */

interface NewEdit extends MessageRef {
  editKind: EditKind;
  payload: string | null;
  attempts: number;
  now: number;
}

export const addEdit = (sql: Sql, { now: frozenAt, ...edit }: NewEdit): Promise<number> =>
  insert(sql, 'batches', { ...edit, kind: 'edit', state: 'frozen', unconfirmed: edit.attempts > 0, frozenAt });

/** Returns where the messages are. */
async function requestEdits(
  sql: Sql,
  messages: readonly (MessageRef & AlertTarget)[],
  editKind: 'change' | 'label',
  now: number,
): Promise<AlertTarget[]> {
  const references = messages.map(({ reference }) => reference);
  // Requested and not started: an edit in progress may have been rendered earlier.
  const requested = await sql.all<{ reference: string; kind: EditKind }>`
    SELECT reference, edit_kind AS kind FROM batches
    WHERE reference ${isIn(references)} AND kind = 'edit' AND state = 'frozen' AND attempts = 0`;
  const known = new Set(requested.filter(({ kind }) => covers(kind, editKind)).map(({ reference }) => reference));
  for (const { channelId, reference } of messages) {
    if (!known.has(reference)) await addEdit(sql, { channelId, reference, editKind, payload: null, attempts: 0, now });
  }
  return messages.map(({ channelId, guildId }) => ({ channelId, guildId }));
}

/** Messages that were deleted since they were looked up are left out. */
export async function requestRerender(sql: Sql, messages: readonly MessageRef[], now: number): Promise<AlertTarget[]> {
  const found = await sql.all<MessageRef & AlertTarget>`
    SELECT b.channel_id, c.guild_id, b.reference FROM batches b JOIN channels c ON c.channel_id = b.channel_id
    WHERE b.reference ${isIn(messages.map(({ reference }) => reference))} AND b.kind = 'create'
      AND b.state IN ('frozen', 'sent')`;
  return requestEdits(sql, found, 'label', now);
}

/** Waiting alerts need nothing, because they are rendered late. */
export async function requestChanges(
  sql: Sql,
  transferIds: readonly number[],
  now: number,
  kinds = ['create', 'digest'],
): Promise<AlertTarget[]> {
  const messages = await sql.all<MessageRef & AlertTarget>`
    SELECT DISTINCT b.channel_id, c.guild_id, b.reference
    FROM alerts a JOIN batches b ON b.id = a.batch_id JOIN channels c ON c.channel_id = b.channel_id
    WHERE a.transfer_id ${isIn(transferIds)} AND b.kind ${isIn(kinds)} AND b.state IN ('frozen', 'sent')`;
  return requestEdits(sql, messages, 'change', now);
}

const MAX_JOINABLE = 3;

/**
 * Sent with embeds, and no edit failed. What is significant joins no message that is not: nobody is notified of an
 * edit. A transaction may have thousands of messages, of which the latest count: one each for cards, lines and what is
 * significant.
 */
export async function joinable(
  sql: Sql,
  channelId: string,
  alerts: readonly Alert[],
  isSignificant: boolean,
  now: number,
): Promise<Joinable[]> {
  const found = await sql.all<Omit<Joinable, 'alerts' | 'transaction'> & { network: number; txHash: string }>`
    SELECT latest.network, latest.tx_hash, b.id, b.reference, b.message_id, b.payload FROM (
      SELECT r.network, r.tx_hash, b.id, row_number() OVER (PARTITION BY r.network, r.tx_hash ORDER BY b.id DESC) AS place
      ${ofSameTransactions(alerts, part`CROSS JOIN batches b`)} AND a.channel_id = ${channelId}
        AND b.id = a.batch_id AND b.sent_at > ${now - JOIN_MS} AND b.kind = 'create' AND b.state = 'sent'
        AND b.message_id IS NOT NULL
        AND b.plain_text = 0 AND b.significant >= ${isSignificant} AND NOT EXISTS (
          SELECT 1 FROM batches e WHERE e.reference = b.reference AND e.kind = 'edit' AND e.state = 'dead')
      GROUP BY r.network, r.tx_hash, b.id) AS latest
    JOIN batches b ON b.id = latest.id WHERE latest.place <= ${MAX_JOINABLE} ORDER BY b.id DESC`;
  const sent = Map.groupBy(found, ({ network, txHash }) => transactionOf({ network, transfer: { txHash } }));
  const messages: Joinable[] = [];
  for (const transaction of new Set(alerts.map(transactionOf)))
    for (const { network: _, txHash: __, ...message } of sent.get(transaction) ?? [])
      messages.push({ ...message, transaction, alerts: await alertsOfBatch(sql, message.id) });
  return messages;
}

export async function join(
  sql: Sql,
  channelId: string,
  to: Joinable,
  alerts: readonly RenderedAlert[],
  payload: string,
  now: number,
): Promise<number | null> {
  if (!(await areAsRendered(sql, alerts, true)) || !(await areAsRendered(sql, to.alerts, false))) return null;
  const id = await addEdit(sql, { channelId, editKind: 'join', reference: to.reference, payload, attempts: 1, now });
  await assign(sql, to.id, alerts);
  await sql.run`UPDATE batches SET alert_count = alert_count + ${alerts.length} WHERE id = ${to.id}`;
  return id;
}

/** The alerts that an edit adds to its message: the message was sent, and they were not. */
const joinedBy = (editId: number) => part`state = 'frozen' AND batch_id = (
  SELECT o.id FROM batches e JOIN batches o ON o.reference = e.reference
  WHERE e.id = ${editId} AND o.kind = 'create' AND o.state = 'sent')`;

/** An edit `e`, the message `o` that it edits, and the alerts `a` that `o` shows. */
const MESSAGE = part`batches e JOIN batches o ON o.reference = e.reference AND o.kind IN ('create', 'digest')
  JOIN alerts a ON a.batch_id = o.id AND a.state = 'sent'`;

/** Dead letters of the message's failed edits are obsolete. */
export async function edited(sql: Sql, editId: number, now: number): Promise<void> {
  await removeDeadLetters(sql, editId);
  await sql.run`UPDATE batches SET state = 'sent', sent_at = ${now}, payload = NULL WHERE id = ${editId}`;
  await sql.run`UPDATE alerts SET state = 'sent' WHERE ${joinedBy(editId)}`;
}

/** A failed change becomes one dead letter, under the message's first alert. */
export async function editFailed(sql: Sql, editId: number, reason: string | null, now: number): Promise<void> {
  await sql.run`
    UPDATE batches SET alert_count = alert_count - (SELECT count(*) FROM alerts WHERE ${joinedBy(editId)})
    WHERE kind = 'create' AND reference = (SELECT reference FROM batches WHERE id = ${editId})`;
  await sql.run`UPDATE alerts SET state = 'waiting', batch_id = NULL WHERE ${joinedBy(editId)}`;
  await removeDeadLetters(sql, editId);
  if (reason !== null) {
    await sql.run`
      INSERT INTO dead_letters (kind, alert_id, channel_id, payload, reason, at)
      SELECT 'change', min(a.id), e.channel_id, o.payload, CAST(${reason} AS TEXT), CAST(${now} AS BIGINT)
      FROM ${MESSAGE}
      WHERE e.id = ${editId} AND e.edit_kind = 'change' GROUP BY e.channel_id, o.payload`;
  }
  await sql.run`UPDATE batches SET state = 'dead', payload = NULL WHERE id = ${editId}`;
}

async function removeDeadLetters(sql: Sql, editId: number): Promise<void> {
  await sql.run`DELETE FROM dead_letters WHERE alert_id IN (SELECT a.id FROM ${MESSAGE} WHERE e.id = ${editId})`;
}
