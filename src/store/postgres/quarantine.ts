import type { Quarantined } from '../../domain/inbox.ts';
import type { Connection, Statements } from './connection.ts';

/** How many rows one transaction handles, at most. */
const MAX_ROWS = 200;

const COLUMNS = 'quarantine.id, scope, guild_id AS "guildId", received_at AS "receivedAt", reason';
/** The columns of a delivery that move to the inbox with it. Its times distinguish it from equal deliveries. */
const KEPT = 'scope, received_at, answered_at, body, identity';
const FROM = 'FROM quarantine LEFT JOIN projects ON projects.id = scope';

/** Puts deliveries back into the inbox, in their order; returns how many. */
const replay = (sql: Statements, where: string, ...values: readonly unknown[]): Promise<number> =>
  sql.run(
    `WITH gone AS (DELETE FROM quarantine WHERE ${where} RETURNING id, ${KEPT})
     INSERT INTO inbox (${KEPT}) SELECT ${KEPT} FROM gone ORDER BY id`,
    ...values,
  );

const discard = (sql: Statements, where: string, ...values: readonly unknown[]): Promise<number> =>
  sql.run(`DELETE FROM quarantine WHERE ${where}`, ...values);

/** Deliveries that the router could not understand. */
export function quarantineTable(db: Connection) {
  /** Handles only what is there now, in short steps; deliveries that are quarantined meanwhile stay. */
  async function all(step: typeof replay): Promise<number> {
    const newest = await db.reads.get<{ id: number | null }>('SELECT max(id) AS id FROM quarantine');
    const some = `id IN (SELECT id FROM quarantine WHERE id <= $1 ORDER BY id LIMIT ${MAX_ROWS})`;
    let done = 0;
    for (let changes = MAX_ROWS; changes === MAX_ROWS; done += changes)
      changes = await db.write((sql) => step(sql, some, newest!.id ?? 0));
    return done;
  }

  return {
    sizes: () =>
      db.reads.all<{ scope: number; rows: number; bytes: number }>(
        `SELECT scope, count(*) AS rows, sum(length(body)) AS bytes FROM quarantine GROUP BY scope ORDER BY scope`,
      ),

    list: () =>
      db.reads.all<Omit<Quarantined, 'body'> & { bytes: number }>(
        `SELECT ${COLUMNS}, length(body) AS bytes ${FROM} ORDER BY quarantine.id`,
      ),

    get: async (id: number) =>
      (await db.reads.get<Quarantined>(`SELECT ${COLUMNS}, body ${FROM} WHERE quarantine.id = $1`, id)) ?? null,

    replay: (id: number) => db.write(async (sql) => (await replay(sql, 'id = $1', id)) === 1),
    discard: (id: number) => db.write(async (sql) => (await discard(sql, 'id = $1', id)) === 1),
    replayAll: () => all(replay),
    discardAll: () => all(discard),
  };
}
