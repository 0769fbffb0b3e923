import Database from 'better-sqlite3';

export type { Call, Post } from '../../../src/store/sqlite/worker.ts';

/** Calls `pass` whenever the engine passes a point between two of its steps; `current` names the store's method at work. */
export function watchEngine(pass: (point: string) => void, current: () => string): void {
  const { transaction, pragma, exec } = Database.prototype;
  Database.prototype.transaction = function (this: Database.Database, run: (...args: unknown[]) => unknown) {
    return transaction.call(this, (...args: unknown[]) => {
      const result = run(...args);
      pass(`${current()} uncommitted`);
      return result;
    });
  } as typeof transaction;
  Database.prototype.exec = function (this: Database.Database, sql: string) {
    if (sql === 'COMMIT') pass(`${current()} uncommitted`);
    const result = exec.call(this, sql);
    if (sql === 'BEGIN EXCLUSIVE') pass('lock taken');
    return result;
  };
  Database.prototype.pragma = function (this: Database.Database, source: string, options?: Database.PragmaOptions) {
    const result = pragma.call(this, source, options);
    if (source.startsWith('journal_mode')) pass('journal mode set');
    return result;
  };
}
