import { hash } from 'node:crypto';
import type { Quarantined } from '../../domain/inbox.ts';
import { isIn, part, type QueriesOf, raw, read, report, update, write } from '../sql.ts';
import type { Quarantine } from '../store.ts';

/** How many deliveries one step lets give up their bytes, at most. */
const MAX_ROWS = 200;

const select = (columns: string) =>
  part`SELECT q.id, q.scope, guild_id, received_at, reason, bytes, hash${raw(columns)}
    FROM quarantine q LEFT JOIN projects ON projects.id = q.scope`;
/** The columns of a delivery that go back to the inbox with it. Its times distinguish it from equal deliveries. */
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
