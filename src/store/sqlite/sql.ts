import type { Database } from 'better-sqlite3';
import { type Mode, type Sql, sqlOver } from '../sql.ts';

type Bound = string | number | null | Uint8Array;

/** Statements run at once; only their results are promises. */
function statementsOn(db: Database): Sql {
  const known = new Map<string, ReturnType<typeof prepare>>();

  function prepare(text: string) {
    const statement = db.prepare<Bound[], unknown[]>(text);
    const columns = statement.reader ? statement.raw().columns() : [];
    const prepared = { statement, columns: columns.map(({ name }) => name) };
    known.set(text, prepared);
    return prepared;
  }

  return sqlOver('sqlite', async (text, values) => {
    const { statement, columns } = known.get(text) ?? prepare(text);
    const bound = values as Bound[];
    if (!statement.reader) return { columns, rows: [], count: statement.run(...bound).changes };
    const rows = statement.all(...bound);
    return { columns, rows, count: rows.length };
  });
}

const READS: ReadonlySet<Mode> = new Set(['report', 'read']);

/** One transaction at a time: the next may begin once the promise of the one before has settled. */
export function transactions(db: Database) {
  const sql = statementsOn(db);
  const connection = {
    /** How long the disk took for the latest commit. */
    syncMs: 0,
    async run<T, Given extends unknown[]>(
      mode: Mode,
      work: (sql: Sql, ...given: Given) => Promise<T>,
      ...given: Given
    ): Promise<T> {
      // The next synced commit makes it durable, because the log is written in order.
      if (mode === 'unsynced') db.exec('PRAGMA synchronous = NORMAL');
      try {
        db.exec(READS.has(mode) ? 'BEGIN' : 'BEGIN IMMEDIATE');
        const result = await work(sql, ...given);
        const begun = performance.now();
        db.exec('COMMIT');
        if (mode === 'write' || mode === 'receive') connection.syncMs = performance.now() - begun;
        return result;
      } catch (error) {
        // A full or failing disk has rolled it back already.
        if (db.inTransaction) db.exec('ROLLBACK');
        throw error;
      } finally {
        if (mode === 'unsynced') db.exec('PRAGMA synchronous = FULL');
      }
    },
  };
  return connection;
}
