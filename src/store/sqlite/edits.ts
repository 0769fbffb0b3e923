import type { Database } from 'better-sqlite3';
import type { RenderedAlert } from '../../domain/alert.ts';
import { covers, type EditKind, JOIN_MS, type Joinable, type MessageRef } from '../../domain/batch.ts';
import { JOINABLE } from '../sql/batch-conditions.ts';
import { alertReader, renderedCheck } from './alerts.ts';
import { unsynced } from './database.ts';

/**
 * Edits of sent messages: requested because what they show changed, or to append alerts. A batch of kind `edit` has the
 * reference of the message that it edits.
 */
export function editTables(db: Database) {
  const insert = db.prepare<NewEdit>(
    `INSERT INTO batches (channel_id, kind, edit_kind, reference, payload, state, attempts, unconfirmed, frozen_at)
     VALUES (@channelId, 'edit', @editKind, @reference, @payload, 'frozen', @attempts, @attempts > 0, @now)`,
  );
  const add = (edit: NewEdit): number => Number(insert.run(edit).lastInsertRowid);
  const { requestChange, requestRerender } = rerenderRequests(db, add);
  const { joinable, join } = joining(db, add);
  return { requestChange, joinable, methods: { requestRerender, join, ...editOutcomes(db) } };
}

/** A row of an edit that is added. */
interface NewEdit extends MessageRef {
  editKind: EditKind;
  payload: string | null;
  attempts: number;
  now: number;
}

/** Requests that messages are rendered again. */
function rerenderRequests(db: Database, add: (edit: NewEdit) => number) {
  // Already requested and not started: one in progress may have been rendered earlier.
  const requests = db.prepare<[string], { requested: EditKind }>(
    `SELECT edit_kind AS requested FROM batches
     WHERE reference = ? AND kind = 'edit' AND state = 'frozen' AND attempts = 0`,
  );
  // The messages that show a transfer.
  const messagesOf = db.prepare<[number], MessageRef>(
    `SELECT DISTINCT b.channel_id AS channelId, b.reference
     FROM alerts a JOIN batches b ON b.id = a.batch_id
     WHERE a.transfer_id = ? AND b.kind IN ('create', 'digest') AND b.state IN ('frozen', 'sent')`,
  );
  const isRendered = db
    .prepare<[string], 1>(
      "SELECT 1 FROM batches WHERE reference = ? AND kind = 'create' AND state IN ('frozen', 'sent')",
    )
    .pluck();

  function request(message: MessageRef, editKind: 'change' | 'label', now: number): string {
    const isRequested = requests.all(message.reference).some(({ requested }) => covers(requested, editKind));
    if (!isRequested) add({ ...message, editKind, payload: null, attempts: 0, now });
    return message.channelId;
  }

  const relabel = db.transaction((messages: readonly MessageRef[], now: number) => {
    // The messages were looked up over another connection, and may be deleted by now.
    const rendered = messages.filter(({ reference }) => isRendered.get(reference) !== undefined);
    return [...new Set(rendered.map((message) => request(message, 'label', now)))];
  });

  return {
    /**
     * Requests that the messages that show a transfer are rendered again, within the router's transaction. Waiting
     * alerts need nothing, because they are rendered late.
     */
    requestChange: (transferId: number, now: number): string[] =>
      messagesOf.all(transferId).map((message) => request(message, 'change', now)),
    requestRerender: (messages: readonly MessageRef[], now: number): string[] => relabel.immediate(messages, now),
  };
}

/** Appends alerts to the message of their transaction. */
function joining(db: Database, add: (edit: NewEdit) => number) {
  const { ofBatch } = alertReader(db);
  const holds = renderedCheck(db);
  const joinable = db.prepare<
    [string, string, string, number],
    Pick<Joinable, 'id' | 'reference' | 'messageId' | 'payload'>
  >(
    `SELECT b.id, b.reference, b.message_id AS messageId, b.payload
     FROM transfers t CROSS JOIN alerts a ON a.transfer_id = t.id JOIN batches b ON b.id = a.batch_id
     WHERE substr(t.tx_hash, 3, 8) = substr(?, 3, 8) AND t.tx_hash = ?
       AND a.channel_id = ?
       AND b.sent_at > ? AND ${JOINABLE}
     ORDER BY b.id DESC LIMIT 1`,
  );
  const assign = db.prepare<[number, number]>("UPDATE alerts SET state = 'frozen', batch_id = ? WHERE id = ?");
  const append = db.transaction(
    (channelId: string, to: Joinable, alerts: RenderedAlert[], payload: string, now: number) => {
      if (!holds(alerts, true) || !holds(to.alerts, false)) return null;
      const id = add({ channelId, editKind: 'join', reference: to.reference, payload, attempts: 1, now });
      for (const alert of alerts) assign.run(to.id, alert.id);
      return id;
    },
  );

  return {
    /** The message that another alert of the transaction may join. */
    joinable(channelId: string, txHash: string, now: number): Joinable | null {
      const found = joinable.get(txHash, txHash, channelId, now - JOIN_MS);
      return found ? { ...found, txHash, alerts: ofBatch(found.id) } : null;
    },
    join: (channelId: string, to: Joinable, alerts: RenderedAlert[], payload: string, now: number): number | null =>
      append.immediate(channelId, to, alerts, payload, now),
  };
}

/** The alerts that an edit adds to its message: the message was sent, and they were not. */
const JOINED = `state = 'frozen' AND batch_id = (
  SELECT o.id FROM batches e JOIN batches o ON o.reference = e.reference
  WHERE e.id = ? AND o.kind = 'create' AND o.state = 'sent')`;

/** An edit `e`, the message `o` that it edits, and the alerts `a` that `o` shows. */
const MESSAGE = `batches e JOIN batches o ON o.reference = e.reference AND o.kind IN ('create', 'digest')
  JOIN alerts a ON a.batch_id = o.id AND a.state = 'sent'`;

/** Records how an edit ended. */
function editOutcomes(db: Database) {
  const markSent = db.prepare<[number, number]>("UPDATE batches SET state = 'sent', sent_at = ? WHERE id = ?");
  const markDead = db.prepare<[number]>("UPDATE batches SET state = 'dead' WHERE id = ?");
  const markJoinedSent = db.prepare<[number]>(`UPDATE alerts SET state = 'sent' WHERE ${JOINED}`);
  const releaseJoined = db.prepare<[number]>(`UPDATE alerts SET state = 'waiting', batch_id = NULL WHERE ${JOINED}`);
  // One dead letter stands for the whole message, under its first alert.
  const addDeadLetter = db.prepare<[string, number, number]>(
    `INSERT INTO dead_letters (kind, alert_id, channel_id, payload, reason, at)
     SELECT 'change', min(a.id), e.channel_id, o.payload, ?, ? FROM ${MESSAGE}
     WHERE e.id = ? AND e.edit_kind = 'change' GROUP BY e.id`,
  );
  const removeDeadLetters = db.prepare<[number]>(
    `DELETE FROM dead_letters WHERE alert_id IN (SELECT a.id FROM ${MESSAGE} WHERE e.id = ?)`,
  );
  const edited = db.transaction((editId: number, now: number) => {
    // The message is now up to date, so its dead letters from failed edits are obsolete.
    removeDeadLetters.run(editId);
    markSent.run(now, editId);
    markJoinedSent.run(editId);
  });
  const editFailed = db.transaction((editId: number, reason: string | null, now: number) => {
    releaseJoined.run(editId);
    removeDeadLetters.run(editId);
    if (reason !== null) addDeadLetter.run(reason, now, editId);
    markDead.run(editId);
  });

  return {
    markEdited: (editId: number, now: number): void => unsynced(db, () => edited.immediate(editId, now)),
    /** A failed change becomes one dead letter per message. */
    markEditFailed: (editId: number, reason: string | null, now: number): void =>
      editFailed.immediate(editId, reason, now),
  };
}
