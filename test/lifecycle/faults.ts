import fs, { existsSync, openSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { systemClock } from '../../src/domain/clock.ts';
import { migrations } from '../../src/store/sqlite/migrations.ts';

/**
 * Preloaded into the bot (`node --import`) and into its database thread, to bring about what tests cannot from outside.
 * PAGE_LIMIT: a file with the number of pages that the database may have, read again and again. NEXT_SCHEMA: SQL of one
 * more migration. THREAD_END: a file; the database's thread ends when it is there. SLOW: so many times as long as it should
 * takes whatever the bot's clock times. CLOCK_AHEAD: by how many
 * milliseconds the clock is wrong. SYNC: a file with the milliseconds that each sync of the database takes; as long as
 * it holds `hang`, the thread waits in the system for somebody to write to the named pipe beside it (`.pipe`).
 * FREE_BYTES: how much is free on every disk. SIGUSR2 prints the longest delay of the event loop since the last time, in milliseconds.
 */

const { PAGE_LIMIT, NEXT_SCHEMA, THREAD_END, SLOW, SYNC, CLOCK_AHEAD, FREE_BYTES } = process.env;

if (FREE_BYTES) {
  const { statfsSync } = fs;
  fs.statfsSync = ((path: string) =>
    Object.assign(statfsSync(path), { bavail: Number(FREE_BYTES), bsize: 1 })) as typeof statfsSync;
  syncBuiltinESMExports();
}

if (SLOW) {
  const { after } = systemClock;
  systemClock.after = (ms, run) => after(ms * Number(SLOW), run);
}

if (CLOCK_AHEAD) systemClock.now = () => Date.now() + Number(CLOCK_AHEAD);

if (NEXT_SCHEMA) migrations.push(NEXT_SCHEMA);

if (THREAD_END && !isMainThread) setInterval(() => void (existsSync(THREAD_END) && process.exit()), 10).unref();

if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  process.on('SIGUSR2', () => {
    process.stdout.write(`${JSON.stringify({ msg: 'loop delay', ms: delay.max / 1e6 })}\n`);
    delay.reset();
  });
} else if (PAGE_LIMIT) {
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
