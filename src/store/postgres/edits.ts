import type { RenderedAlert } from '../../domain/alert.ts';
import { covers, type EditKind, JOIN_MS, type Joinable, type MessageRef } from '../../domain/batch.ts';
import { JOINABLE } from '../sql/batch-conditions.ts';
import { alertsOfBatch, areAsRendered } from './alerts.ts';
import type { Connection, Statements } from './connection.ts';

/** A row of an edit that is added. */
interface NewEdit extends MessageRef {
  editKind: EditKind;
  payload: string | null;
  attempts: number;
  now: number;
}

/**
 * Edits of sent messages: requested because what they show changed, or to append alerts. A batch of kind `edit` has the
 * reference of the message that it edits.
 */
export function editMethods(db: Connection) {
  return {
    requestRerender: (messages: readonly MessageRef[], now: number) =>
      db.write(async (sql) => {
        // The messages were looked up earlier, and may be deleted by now.
        const rendered = await sql.all<{ reference: string }>(
          `SELECT reference FROM batches
           WHERE reference = ANY($1::text[]) AND kind = 'create' AND state IN ('frozen', 'sent')`,
          messages.map(({ reference }) => reference),
        );
        const known = new Set(rendered.map(({ reference }) => reference));
        return request(
          sql,
          messages.filter(({ reference }) => known.has(reference)),
          'label',
          now,
        );
      }),

    join: (channelId: string, to: Joinable, alerts: RenderedAlert[], payload: string, now: number) =>
      db.write(async (sql) => {
        if (!(await areAsRendered(sql, alerts, true)) || !(await areAsRendered(sql, to.alerts, false))) return null;
        const id = await addEdit(sql, {
          channelId,
          editKind: 'join',
          reference: to.reference,
          payload,
          attempts: 1,
          now,
        });
        await assign(sql, to.id, alerts);
        return id;
      }),

    markEdited: (editId: number, now: number) =>
      db.writeUnsynced(async (sql) => {
        // The message is now up to date, so its dead letters from failed edits are obsolete.
        await removeDeadLetters(sql, editId);
        await sql.run("UPDATE batches SET state = 'sent', sent_at = $2 WHERE id = $1", editId, now);
        await sql.run(`UPDATE alerts SET state = 'sent' WHERE ${JOINED}`, editId);
      }),

    markEditFailed: (editId: number, reason: string | null, now: number) =>
      db.write((sql) => editFailed(sql, editId, reason, now)),
  };
}

/** Records that these alerts are in a frozen message. */
export async function assign(sql: Statements, batchId: number, alerts: readonly RenderedAlert[]): Promise<void> {
  const ids = alerts.map(({ id }) => id);
  await sql.run("UPDATE alerts SET state = 'frozen', batch_id = $1 WHERE id = ANY($2::bigint[])", batchId, ids);
}

/**
 * Requests that the messages that show some transfers are rendered again, within the router's transaction; returns their
 * channels. Waiting alerts need nothing, because they are rendered late.
 */
export async function requestChanges(sql: Statements, transferIds: readonly number[], now: number): Promise<string[]> {
  if (transferIds.length === 0) return [];
  const messages = await sql.all<MessageRef>(
    `SELECT DISTINCT b.channel_id AS "channelId", b.reference FROM alerts a JOIN batches b ON b.id = a.batch_id
     WHERE a.transfer_id = ANY($1::bigint[]) AND b.kind IN ('create', 'digest') AND b.state IN ('frozen', 'sent')`,
    transferIds,
  );
  return request(sql, messages, 'change', now);
}

async function request(
  sql: Statements,
  messages: readonly MessageRef[],
  editKind: 'change' | 'label',
  now: number,
): Promise<string[]> {
  // Already requested and not started: one in progress may have been rendered earlier.
  const requests = await sql.all<{ reference: string; requested: EditKind }>(
    `SELECT reference, edit_kind AS requested FROM batches
     WHERE reference = ANY($1::text[]) AND kind = 'edit' AND state = 'frozen' AND attempts = 0`,
    messages.map(({ reference }) => reference),
  );
  const known = new Set(
    requests.filter(({ requested }) => covers(requested, editKind)).map(({ reference }) => reference),
  );
  for (const { channelId, reference } of messages) {
    if (known.has(reference)) continue;
    known.add(reference);
    await addEdit(sql, { channelId, reference, editKind, payload: null, attempts: 0, now });
  }
  return [...new Set(messages.map(({ channelId }) => channelId))];
}

async function addEdit(
  sql: Statements,
  { channelId, editKind, reference, payload, attempts, now }: NewEdit,
): Promise<number> {
  const row = await sql.get<{ id: number }>(
    `INSERT INTO batches (channel_id, kind, edit_kind, reference, payload, state, attempts, unconfirmed, frozen_at)
     VALUES ($1, 'edit', $2, $3, $4, 'frozen', $5::bigint, $5::bigint > 0, $6) RETURNING id`,
    channelId,
    editKind,
    reference,
    payload,
    attempts,
    now,
  );
  return row!.id;
}

/** The messages that other alerts of these transactions may join, at most one each. */
export async function joinable(
  sql: Statements,
  channelId: string,
  txHashes: readonly string[],
  now: number,
): Promise<Joinable[]> {
  const found = await sql.all<Omit<Joinable, 'alerts'>>(
    // Looks up each shown transfer by its id, which names the partition. By its hash, it would be sought in all of them.
    `SELECT DISTINCT ON ("txHash") * FROM (
       SELECT (SELECT tx_hash FROM transfers WHERE id = a.transfer_id) AS "txHash", b.id, b.reference,
         b.message_id AS "messageId", b.payload
       FROM batches b JOIN alerts a ON a.batch_id = b.id
       WHERE b.channel_id = $2 AND b.sent_at > $3 AND ${JOINABLE}) AS shown
     WHERE "txHash" = ANY($1::text[]) ORDER BY "txHash", id DESC`,
    txHashes,
    channelId,
    now - JOIN_MS,
  );
  const joins: Joinable[] = [];
  for (const one of found) joins.push({ ...one, alerts: await alertsOfBatch(sql, one.id) });
  return joins.toSorted((one, other) => txHashes.indexOf(one.txHash) - txHashes.indexOf(other.txHash));
}

/** A failed change becomes one dead letter per message. */
export async function editFailed(sql: Statements, editId: number, reason: string | null, now: number): Promise<void> {
  await sql.run(`UPDATE alerts SET state = 'waiting', batch_id = NULL WHERE ${JOINED}`, editId);
  await removeDeadLetters(sql, editId);
  if (reason !== null) {
    // One dead letter stands for the whole message, under its first alert.
    await sql.run(
      `INSERT INTO dead_letters (kind, alert_id, channel_id, payload, reason, at)
       SELECT 'change', min(a.id), e.channel_id, o.payload, $2, $3 FROM ${MESSAGE}
       WHERE e.id = $1 AND e.edit_kind = 'change' GROUP BY e.channel_id, o.payload`,
      editId,
      reason,
      now,
    );
  }
  await sql.run("UPDATE batches SET state = 'dead' WHERE id = $1", editId);
}

/** The alerts that an edit adds to its message: the message was sent, and they were not. */
const JOINED = `state = 'frozen' AND batch_id = (
  SELECT o.id FROM batches e JOIN batches o ON o.reference = e.reference
  WHERE e.id = $1 AND o.kind = 'create' AND o.state = 'sent')`;

/** An edit `e`, the message `o` that it edits, and the alerts `a` that `o` shows. */
const MESSAGE = `batches e JOIN batches o ON o.reference = e.reference AND o.kind IN ('create', 'digest')
  JOIN alerts a ON a.batch_id = o.id AND a.state = 'sent'`;

async function removeDeadLetters(sql: Statements, editId: number): Promise<void> {
  await sql.run(`DELETE FROM dead_letters WHERE alert_id IN (SELECT a.id FROM ${MESSAGE} WHERE e.id = $1)`, editId);
}
