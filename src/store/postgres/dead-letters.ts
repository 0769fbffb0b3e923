import { type DeadLetterRow, SELECT_DEAD_LETTERS as SELECT, toDeadLetter } from '../sql/rows.ts';
import type { Connection, Statements } from './connection.ts';

/** How many dead letters are discarded in one transaction, at most. */
const MAX_DISCARDED = 200;

const letterOf = (sql: Statements, id: number): Promise<DeadLetterRow | undefined> =>
  sql.get<DeadLetterRow>(`${SELECT} WHERE d.id = $1`, id);

/** Alerts and edits that could not be posted, until somebody replays or discards them. */
export function deadLetters(db: Connection) {
  return {
    list: async (limit: number) =>
      (await db.reads.all<DeadLetterRow>(`${SELECT} ORDER BY d.id LIMIT $1`, limit)).map(toDeadLetter),

    get: async (id: number) => {
      const row = await letterOf(db.reads, id);
      return row ? toDeadLetter(row) : null;
    },

    replay: (id: number, now: number) => db.write((sql) => replay(sql, id, now)),

    discard: (id: number, now: number) => db.write(async (sql) => (await discard(sql, now, 'id = $2', id)) === 1),

    /** Works in short steps, between which others can write. */
    async discardAll(channelId: string, now: number): Promise<number> {
      const newest = await db.reads.get<{ id: number | null }>('SELECT max(id) AS id FROM dead_letters');
      const some = `id IN (SELECT id FROM dead_letters WHERE channel_id = $2 AND id <= $3 ORDER BY id LIMIT ${MAX_DISCARDED})`;
      let done = 0;
      for (let changes = MAX_DISCARDED; changes === MAX_DISCARDED; done += changes)
        changes = await db.write((sql) => discard(sql, now, some, channelId, newest!.id ?? 0));
      return done;
    },
  };
}

/** Deletes dead letters and marks their alerts as given up; returns how many. */
async function discard(sql: Statements, now: number, where: string, ...values: readonly unknown[]): Promise<number> {
  const counted = await sql.get<{ n: number }>(
    `WITH gone AS (DELETE FROM dead_letters WHERE ${where} RETURNING alert_id),
       marked AS (UPDATE alerts SET discarded_at = $1 WHERE id IN (SELECT alert_id FROM gone) AND state = 'dead')
     SELECT count(*) AS n FROM gone`,
    now,
    ...values,
  );
  return counted!.n;
}

async function replay(sql: Statements, id: number, now: number): Promise<boolean> {
  const found = await letterOf(sql, id);
  if (!found) return false;
  // A message that was sent is edited, not posted again.
  const changed =
    found.kind === 'change'
      ? await sql.run(
          `INSERT INTO batches (channel_id, kind, edit_kind, reference, payload, state, attempts, unconfirmed, frozen_at)
         SELECT channel_id, 'edit', 'change', reference, NULL, 'frozen', 0, FALSE, $1 FROM batches
         WHERE id = (SELECT batch_id FROM alerts WHERE id = $2)`,
          now,
          found.alertId,
        )
      : await sql.run(
          "UPDATE alerts SET state = 'waiting', batch_id = NULL, hold = NULL, due_at = 0 WHERE id = $1",
          found.alertId,
        );
  if (changed === 0) return false;
  await sql.run('DELETE FROM dead_letters WHERE id = $1', id);
  await sql.run('UPDATE channels SET due_at = least(due_at, $2) WHERE channel_id = $1', found.channelId, now);
  return true;
}
