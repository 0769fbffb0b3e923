import type { Database } from 'better-sqlite3';
import type { Quarantined } from '../../domain/inbox.ts';

/** Rows of one transaction. */
const AT_ONCE = 200;

const COLUMNS = 'quarantine.id, scope, guild_id AS guildId, received_at AS receivedAt, reason';
/** What a delivery has in the inbox, and has there again once it is put back: it is told from its equals by its times. */
const KEPT = 'scope, received_at, answered_at, body, identity';
const FROM = 'FROM quarantine LEFT JOIN projects ON projects.id = scope';

/** What the router set aside. */
export function quarantineTable(db: Database) {
  // Lengths before groups: bodies would be sorted whole, which takes twenty times as long.
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
  const some = 'SELECT id FROM quarantine WHERE id <= ? ORDER BY id LIMIT ?';
  const requeueSome = db.prepare<[number, number]>(
    `INSERT INTO inbox (${KEPT}) SELECT ${KEPT} FROM quarantine WHERE id IN (${some})`,
  );
  const dropSome = db.prepare<[number, number]>(`DELETE FROM quarantine WHERE id IN (${some})`);
  const replaySome = db.transaction((until: number) => {
    requeueSome.run(until, AT_ONCE);
    return dropSome.run(until, AT_ONCE).changes;
  });
  /** Until none is left of those that are there now; what a running bot sets aside meanwhile stays. */
  const all = (some: (until: number) => number): number => {
    const until = newest.get()!.id ?? 0;
    let done = 0;
    for (let changes = AT_ONCE; changes === AT_ONCE; done += changes) changes = some(until);
    return done;
  };
  const replay = db.transaction((id: number) => requeue.run(id).changes === 1 && drop.run(id).changes === 1);

  return {
    /** What is in quarantine, by the scope that it came for. */
    sizes: () => byScope.all(),
    /** All of them, oldest first, without their bytes. */
    list: () => list.all(),
    get: (id: number): Quarantined | null => one.get(id) ?? null,
    /** Puts a delivery back among those that wait for the router; false when there is none with this number. */
    replay: (id: number): boolean => replay.immediate(id),
    /** Forgets a delivery for good; false when there is none with this number. */
    discard: (id: number): boolean => drop.run(id).changes === 1,
    /** The same for all of them, in steps that hold up no other writer for long; they give how many. */
    replayAll: (): number => all((until) => replaySome.immediate(until)),
    discardAll: (): number => all((until) => dropSome.run(until, AT_ONCE).changes),
  };
}
