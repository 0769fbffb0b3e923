import { existsSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { systemClock } from '../../src/domain/clock.ts';
import { migrations } from '../../src/store/sqlite/migrations.ts';

/**
 * Preloaded into the bot (`node --import`) and into its database thread, to bring about what tests cannot from outside.
 * PAGE_LIMIT: a file with the number of pages that the database may have, read again and again. NEXT_SCHEMA: SQL of one
 * more migration. THREAD_END: a file; the database's thread ends when it is there. SLOW: so many times as long as it should
 * takes whatever the bot's clock times. SIGUSR2 prints the longest delay of the event loop since the last time, in milliseconds.
 */

const { PAGE_LIMIT, NEXT_SCHEMA, THREAD_END, SLOW } = process.env;

if (SLOW) {
  const { after } = systemClock;
  systemClock.after = (ms, run) => after(ms * Number(SLOW), run);
}

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
