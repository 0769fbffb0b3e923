import { type InboxRow, type NewDelivery, storedBytes, takenInTurn } from '../../domain/inbox.ts';
import { insertAll, isIn, type QueriesOf, read, receive, type Sql } from '../sql.ts';
import type { Inbox } from '../store.ts';
import { scopesIn } from './projects.ts';

export const inbox: QueriesOf<Inbox> = {
  append: receive(async (sql, deliveries) => {
    await countUsage(sql, deliveries);
    const rows = await insertAll<{ id: number }>(sql, 'inbox', deliveries, 'RETURNING id');
    // They are numbered in the order in which they are inserted.
    return rows.map(({ id }) => id).toSorted((one, other) => one - other);
  }),

  next: read(nextRows),

  usage: read(
    (sql) =>
      sql.all`
        WITH waits AS (
          SELECT scope, count(*) AS waiting, sum(size) AS bytes FROM (
            SELECT scope, length(body) AS size FROM inbox WHERE scope > 0) AS sizes GROUP BY scope)
        SELECT scope, coalesce(waiting, 0) AS waiting, coalesce(w.bytes, 0) AS waiting_bytes,
          coalesce(day, 0) AS day, coalesce(u.bytes, 0) AS day_bytes
        FROM waits w FULL JOIN scope_usage u USING (scope)`,
  ),
};

export async function nextRows(sql: Sql, limit: number, bytes = Number.MAX_SAFE_INTEGER): Promise<InboxRow[]> {
  const waiting: { id: number; size: number }[][] = [];
  for (const scope of await scopesIn(sql, 'inbox', Number.MAX_SAFE_INTEGER)) {
    waiting.push(
      await sql.all`SELECT id, length(body) AS size FROM inbox WHERE scope = ${scope} ORDER BY id LIMIT ${limit}`,
    );
  }
  const ids = takenInTurn(waiting, limit, bytes).map(({ id }) => id);
  if (ids.length === 0) return [];
  const found = await sql.all<Omit<InboxRow, 'body'> & { body: Buffer }>`
    SELECT id, scope, received_at, run, run_ms, identity AS identity_json, body FROM inbox
    WHERE id ${isIn(ids)}`;
  const byId = new Map(found.map((row) => [row.id, { ...row, body: row.body.toString() }]));
  return ids.map((id) => byId.get(id)!);
}

/** Counts what servers' own projects stored today. All processes lock the rows in the same order. */
async function countUsage(sql: Sql, deliveries: readonly NewDelivery[]): Promise<void> {
  for (const { scope, day, bytes } of storedBytes(deliveries)) {
    await sql.run`
      INSERT INTO scope_usage (scope, day, bytes) VALUES (${scope}, ${day}, ${bytes})
      ON CONFLICT (scope) DO UPDATE SET day = excluded.day,
        bytes = CASE WHEN scope_usage.day = excluded.day THEN scope_usage.bytes ELSE 0 END + excluded.bytes`;
  }
}
