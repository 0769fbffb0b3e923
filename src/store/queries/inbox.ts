import { hash } from 'node:crypto';
import { DAY } from '../../domain/clock.ts';
import { type InboxRow, isOperatorScope, type Quarantined, takenInTurn } from '../../domain/inbox.ts';
import { insertAll, isIn, part, type QueriesOf, raw, read, receive, report, type Sql, update, write } from '../sql.ts';
import type { Inbox, Quarantine } from '../store.ts';

export const inbox: QueriesOf<Inbox> = {
  append: receive(async (sql, deliveries) => {
    // Only of servers' own projects.
    const used = new Map<string, { scope: number; day: number; bytes: number }>();
    for (const { scope, receivedAt, body } of deliveries) {
      if (isOperatorScope(scope)) continue;
      const day = Math.floor(receivedAt / DAY);
      const bytes = (used.get(`${scope} ${day}`)?.bytes ?? 0) + body.length;
      used.set(`${scope} ${day}`, { scope, day, bytes });
    }
    // All processes lock the rows in the same order.
    for (const { scope, day, bytes } of [...used.values()].toSorted((a, b) => a.scope - b.scope || a.day - b.day)) {
      await sql.run`
        INSERT INTO scope_usage (scope, day, bytes) VALUES (${scope}, ${day}, ${bytes})
        ON CONFLICT (scope) DO UPDATE SET day = excluded.day,
          bytes = CASE WHEN scope_usage.day = excluded.day THEN scope_usage.bytes ELSE 0 END + excluded.bytes`;
    }
    const stored = await insertAll<{ id: number }>(sql, 'inbox', deliveries, { rest: 'RETURNING id' });
    return stored.map(({ id }) => id).toSorted((a, b) => a - b);
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
  const ids = takenInTurn(waiting, limit, bytes);
  if (ids.length === 0) return [];
  const found = await sql.all<Omit<InboxRow, 'body'> & { body: Buffer }>`
    SELECT id, scope, received_at, run, run_ms, identity AS identity_json, body FROM inbox
    WHERE id ${isIn(ids)}`;
  const byId = new Map<number, InboxRow>();
  for (const row of found) byId.set(row.id, { ...row, body: row.body.toString() });
  return ids.map((id) => byId.get(id)!);
}

/** Scopes up to `last`, by a few look-ups in an index instead of reading all rows of a flood. */
export const scopesIn = (sql: Sql, table: 'inbox' | 'transfers', last: number) => sql.list<number>`
  WITH RECURSIVE each (scope) AS (
    SELECT min(scope) FROM ${raw(table)} WHERE scope <= ${last}
    UNION ALL SELECT (SELECT min(scope) FROM ${raw(table)} WHERE scope > each.scope AND scope <= ${last})
      FROM each WHERE scope IS NOT NULL)
  SELECT scope FROM each WHERE scope IS NOT NULL`;

const MAX_ROWS = 200;

const select = (columns: string) =>
  part`SELECT q.id, q.scope, guild_id, received_at, reason, bytes, hash${raw(columns)}
    FROM quarantine q LEFT JOIN projects ON projects.id = q.scope`;
/** The times distinguish a delivery from equal ones. */
const KEPT = raw('scope, received_at, run, run_ms, identity, body');

export const quarantine: QueriesOf<Quarantine> = {
  sizes: read(
    (sql) =>
      sql.all`
        SELECT scope, count(*) FILTER (WHERE hash IS NULL) AS rows,
          coalesce(sum(bytes) FILTER (WHERE hash IS NULL), 0) AS bytes, count(hash) AS given_up
        FROM quarantine GROUP BY scope ORDER BY scope`,
  ),

  list: report((sql) => sql.all`${select('')} ORDER BY q.id`),

  get: report(async (sql, id) => (await sql.get<Quarantined>`${select(', body')} WHERE q.id = ${id}`) ?? null),

  reasons: report(
    (sql, scope, begin) =>
      sql.all`
        SELECT reason, count(*) AS count FROM quarantine WHERE scope = ${scope}
          AND substr(reason, 1, length(${begin})) = ${begin}
        GROUP BY reason ORDER BY max(id) DESC`,
  ),

  replay: write(async (sql, ids) => {
    const replayed = await sql.run`
      INSERT INTO inbox (${KEPT}) SELECT ${KEPT} FROM quarantine WHERE id ${isIn(ids)} AND hash IS NULL ORDER BY id`;
    await sql.run`DELETE FROM quarantine WHERE id ${isIn(ids)} AND hash IS NULL`;
    return replayed;
  }),

  discard: write((sql, ids) => sql.run`DELETE FROM quarantine WHERE id ${isIn(ids)}`),

  giveUp: write(async (sql, scope, keep) => {
    const excess = await sql.list<number>`
      SELECT id FROM (
        SELECT id, row_number() OVER newer AS rows_kept, sum(bytes) OVER newer AS bytes_kept FROM quarantine
        WHERE scope = ${scope} AND hash IS NULL WINDOW newer AS (ORDER BY id DESC)) AS kept
      WHERE rows_kept > ${keep.rows} OR bytes_kept > ${keep.bytes} ORDER BY id LIMIT ${MAX_ROWS}`;
    for (const id of excess) {
      const body = await sql.value<Uint8Array>`SELECT body FROM quarantine WHERE id = ${id}`;
      await update(sql, 'quarantine', { id }, { hash: hash('sha256', body!), body: null });
    }
    return excess.length;
  }),
};
