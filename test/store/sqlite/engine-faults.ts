import { existsSync, openSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { MIGRATIONS } from '../../../src/store/sqlite/migrations.ts';

/**
 * Preloaded into the bot's database thread, to bring about faults of the engine. Environment variables:
 *
 * - PAGE_LIMIT: a file with the number of pages that the database may have, read again and again.
 * - CHECK_FAULT: the message of an error that ends every check of single tables by a connection that only reads.
 * - NEXT_SCHEMA: SQL of one more migration.
 * - SYNC: a file with the milliseconds that each sync of the database takes. As long as it holds `hang`, the thread waits
 *   in the system for somebody to write to the named pipe next to it (`.pipe`).
 */

const { CHECK_FAULT, PAGE_LIMIT, NEXT_SCHEMA, SYNC } = process.env;

if (NEXT_SCHEMA) MIGRATIONS.push(NEXT_SCHEMA);

if (PAGE_LIMIT && !isMainThread) {
  const { pragma } = Database.prototype;
  Database.prototype.pragma = function (this: Database.Database, source: string, options?: Database.PragmaOptions) {
    if (source === 'foreign_keys = ON') {
      setInterval(() => {
        if (existsSync(PAGE_LIMIT)) pragma.call(this, `max_page_count = ${Number(readFileSync(PAGE_LIMIT, 'utf8'))}`);
      }, 10).unref();
    }
    return pragma.call(this, source, options);
  } as typeof pragma;
}

if (CHECK_FAULT && !isMainThread) {
  const { pragma } = Database.prototype;
  Database.prototype.pragma = function (this: Database.Database, source: string, options?: Database.PragmaOptions) {
    if (this.readonly && source.startsWith("quick_check('"))
      throw new Database.SqliteError(CHECK_FAULT, 'SQLITE_IOERR');
    return pragma.call(this, source, options);
  } as typeof pragma;
}

/** What waits for a sync in the bot waits here: after a commit at SQLite's level FULL. */
function sync(db: Database.Database, file: string): void {
  if (db.inTransaction || db.readonly || db.pragma('synchronous', { simple: true }) !== 2) return;
  const wanted = existsSync(file) ? readFileSync(file, 'utf8') : '0';
  if (wanted === 'hang') openSync(`${file}.pipe`, 'r');
  else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(wanted));
}

if (SYNC && !isMainThread) {
  const { transaction, prepare, exec } = Database.prototype;
  Database.prototype.exec = function (this: Database.Database, sql: string) {
    const result = exec.call(this, sql);
    if (sql === 'COMMIT') sync(this, SYNC);
    return result;
  };
  Database.prototype.transaction = function (this: Database.Database, run: (...args: unknown[]) => unknown) {
    const made = transaction.call(this, run);
    const slowed = (way: (...args: unknown[]) => unknown) => {
      return (...args: unknown[]) => {
        const result = way(...args);
        sync(this, SYNC);
        return result;
      };
    };
    return Object.assign(slowed(made), { immediate: slowed(made.immediate), deferred: slowed(made.deferred) });
  } as typeof transaction;
  Database.prototype.prepare = function (this: Database.Database, sql: string) {
    const statement = prepare.call(this, sql);
    if (statement.readonly || !/^\s*(INSERT|UPDATE|DELETE)/.test(sql)) return statement;
    const run = statement.run.bind(statement) as (...values: unknown[]) => Database.RunResult;
    statement.run = ((...values: unknown[]) => {
      const result = run(...values);
      sync(this, SYNC);
      return result;
    }) as typeof statement.run;
    return statement;
  } as typeof prepare;
}
