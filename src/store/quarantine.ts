import type { Database } from 'better-sqlite3';

/** A delivery that could not be understood, with its bytes as they came. */
export interface Quarantined {
  id: number;
  scope: number;
  receivedAt: number;
  reason: string;
  body: Uint8Array;
}

const COLUMNS = 'id, scope, received_at AS receivedAt, reason, body';

/** What the router set aside. */
export function quarantineTable(db: Database) {
  const all = db.prepare<[], Omit<Quarantined, 'body'> & { bytes: number }>(
    'SELECT id, scope, received_at AS receivedAt, reason, length(body) AS bytes FROM quarantine ORDER BY id',
  );
  const one = db.prepare<[number], Quarantined>(`SELECT ${COLUMNS} FROM quarantine WHERE id = ?`);
  const requeue = db.prepare<[number]>(
    'INSERT INTO inbox (scope, received_at, body) SELECT scope, received_at, body FROM quarantine WHERE id = ?',
  );
  const drop = db.prepare<[number]>('DELETE FROM quarantine WHERE id = ?');
  const replay = db.transaction((id: number) => requeue.run(id).changes === 1 && drop.run(id).changes === 1);

  return {
    /** All of them, oldest first, without their bytes. */
    list: () => all.all(),
    get: (id: number): Quarantined | null => one.get(id) ?? null,
    /** Puts a delivery back among those that wait for the router; false when there is none with this number. */
    replay: (id: number): boolean => replay.immediate(id),
  };
}
