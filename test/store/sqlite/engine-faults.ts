import { existsSync, openSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import Database from 'better-sqlite3';

/**
 * Preloaded into the bot's database thread, to bring about faults of the engine. Environment variables:
 *
 * - PAGE_LIMIT: a file with the number of pages that the database may have, read again and again.
 * - SYNC: a file with the milliseconds that each sync of the database takes. As long as it holds `hang`, the thread waits
 *   in the system for somebody to write to the named pipe next to it (`.pipe`).
 */

const { PAGE_LIMIT, SYNC } = process.env;

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

/** What waits for a sync in the bot waits here: after a commit at SQLite's level FULL. */
function sync(db: Database.Database, file: string): void {
  if (db.inTransaction || db.readonly || db.pragma('synchronous', { simple: true }) !== 2) return;
  const wanted = existsSync(file) ? readFileSync(file, 'utf8') : '0';
  if (wanted === 'hang') openSync(`${file}.pipe`, 'r');
  else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(wanted));
}

if (SYNC && !isMainThread) {
  const { exec } = Database.prototype;
  Database.prototype.exec = function (this: Database.Database, sql: string) {
    const result = exec.call(this, sql);
    if (sql === 'COMMIT') sync(this, SYNC);
    return result;
  };
}
