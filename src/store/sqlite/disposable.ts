import type { Database } from 'better-sqlite3';

/** Lets `using` close a database at the end of its block. */
export const disposable = (db: Database): Database & Disposable =>
  Object.assign(db, { [Symbol.dispose]: () => void db.close() });
