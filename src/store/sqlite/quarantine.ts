import type { Database } from 'better-sqlite3';
import type { Quarantined } from '../../domain/inbox.ts';

/** How many rows one transaction handles, at most. */
const MAX_ROWS = 200;

const COLUMNS = 'quarantine.id, scope, guild_id AS guildId, received_at AS receivedAt, reason';
/** The columns of a delivery that move to the inbox with it. Its times distinguish it from equal deliveries. */
const KEPT = 'scope, received_at, answered_at, body, identity';
const FROM = 'FROM quarantine LEFT JOIN projects ON projects.id = scope';
const OLDEST = `SELECT id FROM quarantine WHERE id <= ? ORDER BY id LIMIT ${MAX_ROWS}`;

/** Deliveries that the router could not understand. */
export function quarantineTable(db: Database) {
  // Computes lengths before grouping: sorting whole bodies takes twenty times as long.
  const byScope = db.prepare<[], { scope: number; rows: number; bytes: number }>(
    `WITH lengths AS MATERIALIZED (SELECT scope, length(body) AS bytes FROM quarantine)
     SELECT scope, count(*) AS rows, sum(bytes) AS bytes FROM lengths GROUP BY scope`,
  );
  const list = db.prepare<[], Omit<Quarantined, 'body'> & { bytes: number }>(
    `SELECT ${COLUMNS}, length(body) AS bytes ${FROM} ORDER BY quarantine.id`,
  );
  const one = db.prepare<[number], Quarantined>(`SELECT ${COLUMNS}, body ${FROM} WHERE quarantine.id = ?`);
  const requeue = db.prepare<[number]>(`INSERT INTO inbox (${KEPT}) SELECT ${KEPT} FROM quarantine WHERE id = ?`);
  const drop = db.prepare<[number]>('DELETE FROM quarantine WHERE id = ?');
  const newest = db.prepare<[], { id: number | null }>('SELECT max(id) AS id FROM quarantine');
  const requeueSome = db.prepare<[number]>(
    `INSERT INTO inbox (${KEPT}) SELECT ${KEPT} FROM quarantine WHERE id IN (${OLDEST})`,
  );
  const dropSome = db.prepare<[number]>(`DELETE FROM quarantine WHERE id IN (${OLDEST})`);
  const replaySome = db.transaction((until: number) => {
    requeueSome.run(until);
    return dropSome.run(until).changes;
  });
  /** Handles only what is there now, in short steps; deliveries that are quarantined meanwhile stay. */
  function all(step: (until: number) => number): number {
    const until = newest.get()!.id ?? 0;
    let done = 0;
    for (let changes = MAX_ROWS; changes === MAX_ROWS; done += changes) changes = step(until);
    return done;
  }
  const replay = db.transaction((id: number) => requeue.run(id).changes === 1 && drop.run(id).changes === 1);

  return {
    sizes: () => byScope.all(),
    list: () => list.all(),
    get: (id: number): Quarantined | null => one.get(id) ?? null,
    replay: (id: number): boolean => replay.immediate(id),
    discard: (id: number): boolean => drop.run(id).changes === 1,
    replayAll: (): number => all((until) => replaySome.immediate(until)),
    discardAll: (): number => all((until) => dropSome.run(until).changes),
  };
}
