import { existsSync, openSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import Database from 'better-sqlite3';

/**
 * Preloaded into the bot's database thread. SYNC: a file with the milliseconds that each sync of the database takes. As
 * long as it holds `hang`, the thread waits in the system for somebody to write to the named pipe next to it (`.pipe`).
 */

const { SYNC } = process.env;

/** Waits where the bot waits for a sync: after a commit at SQLite's level FULL. */
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
