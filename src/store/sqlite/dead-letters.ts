import type { Database } from 'better-sqlite3';
import type { DeadLetter } from '../../domain/batch.ts';
import { type DeadLetterRow, SELECT_DEAD_LETTERS as SELECT, toDeadLetter } from '../sql/rows.ts';

/** How many dead letters are discarded in one transaction, at most. */
const MAX_DISCARDED = 200;

/** Alerts and edits that could not be posted, until somebody replays or discards them. */
export function deadLetters(db: Database) {
  const letters = db.prepare<[number], DeadLetterRow>(`${SELECT} ORDER BY d.id LIMIT ?`);
  const letter = db.prepare<[number], DeadLetterRow>(`${SELECT} WHERE d.id = ?`);
  const remove = db.prepare<[number]>('DELETE FROM dead_letters WHERE id = ?');
  const revive = db.prepare<[number]>(
    "UPDATE alerts SET state = 'waiting', batch_id = NULL, hold = NULL, due_at = 0 WHERE id = ?",
  );
  const tryAtOnce = db.prepare<[number, string]>('UPDATE channels SET due_at = min(due_at, ?) WHERE channel_id = ?');
  const requestChange = db.prepare<[number, number]>(
    `INSERT INTO batches (channel_id, kind, edit_kind, reference, payload, state, attempts, unconfirmed, frozen_at)
     SELECT channel_id, 'edit', 'change', reference, NULL, 'frozen', 0, 0, ? FROM batches
     WHERE id = (SELECT batch_id FROM alerts WHERE id = ?)`,
  );
  const idsIn = db.prepare<[string], number>('SELECT id FROM dead_letters WHERE channel_id = ? ORDER BY id').pluck();
  const markDiscarded = db.prepare<[number, number]>(
    "UPDATE alerts SET discarded_at = ? WHERE id = ? AND state = 'dead'",
  );
  const discard = db.transaction((ids: readonly number[], now: number): number => {
    const found = ids.flatMap((id) => letter.get(id) ?? []);
    for (const { id, alertId } of found) {
      markDiscarded.run(now, alertId);
      remove.run(id);
    }
    return found.length;
  });
  const replay = db.transaction((id: number, now: number) => {
    const found = letter.get(id);
    // A message that was sent is edited, not posted again.
    const again =
      found && (found.kind === 'change' ? requestChange.run(now, found.alertId) : revive.run(found.alertId));
    if (!again || again.changes === 0) return false;
    remove.run(id);
    tryAtOnce.run(now, found.channelId);
    return true;
  });

  return {
    list: (limit: number): DeadLetter[] => letters.all(limit).map(toDeadLetter),
    get(id: number): DeadLetter | null {
      const row = letter.get(id);
      return row ? toDeadLetter(row) : null;
    },
    replay: (id: number, now: number): boolean => replay.immediate(id, now),
    discard: (id: number, now: number): boolean => discard.immediate([id], now) === 1,
    /** Works in short steps, between which others can write. */
    discardAll(channelId: string, now: number): number {
      const ids = idsIn.all(channelId);
      let done = 0;
      while (ids.length > 0) done += discard.immediate(ids.splice(0, MAX_DISCARDED), now);
      return done;
    },
  };
}
