import Database from 'better-sqlite3';

/** What travels between the bot and the database's threads. */
export type { Post, PostedCall } from '../../../src/store/sqlite/thread-messages.ts';

/** Calls `pass` whenever the engine passes a point between two of its steps; `current` names the store's method at work. */
export function watchEngine(pass: (point: string) => void, current: () => string): void {
  const { transaction, pragma, exec, prepare } = Database.prototype;
  Database.prototype.transaction = function (this: Database.Database, run: (...args: unknown[]) => unknown) {
    return transaction.call(this, (...args: unknown[]) => {
      const result = run(...args);
      pass(`${current()} uncommitted`);
      return result;
    });
  } as typeof transaction;
  Database.prototype.exec = function (this: Database.Database, sql: string) {
    if (current() === 'migration' && sql !== 'BEGIN EXCLUSIVE') pass('migration begun');
    const result = exec.call(this, sql);
    if (sql === 'BEGIN EXCLUSIVE') pass('lock taken');
    return result;
  };
  Database.prototype.prepare = function (this: Database.Database, sql: string) {
    const statement = prepare.call(this, sql);
    if (!sql.startsWith('VACUUM INTO')) return statement;
    const run = statement.run.bind(statement) as (...values: unknown[]) => Database.RunResult;
    statement.run = ((...values: unknown[]) => {
      const result = run(...values);
      pass('copy written');
      return result;
    }) as typeof statement.run;
    return statement;
  } as typeof prepare;
  Database.prototype.pragma = function (this: Database.Database, source: string, options?: Database.PragmaOptions) {
    const result = pragma.call(this, source, options);
    if (source.startsWith('journal_mode')) pass('journal mode set');
    return result;
  };
}
