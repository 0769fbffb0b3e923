import fs, { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import { systemClock } from '../../src/domain/clock.ts';
import '../store/sqlite/engine-faults.ts';

/**
 * Preloaded into the bot (`node --import`) and into its database thread, for faults that tests cannot cause from outside.
 * `engine-faults.ts` has those of the engine. Environment variables:
 *
 * - THREAD_END: a file; the database's thread ends once it exists.
 * - SLOW: every timer of the bot's clock takes this many times as long.
 * - CLOCK_AHEAD: the clock is this many milliseconds ahead.
 * - FREE_BYTES: this much is free on every disk.
 *
 * SIGUSR2 prints the longest delay of the event loop since the last time, in milliseconds.
 */

const { THREAD_END, SLOW, CLOCK_AHEAD, FREE_BYTES } = process.env;

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

if (THREAD_END && !isMainThread) setInterval(() => void (existsSync(THREAD_END) && process.exit()), 10).unref();

if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  process.on('SIGUSR2', () => {
    process.stdout.write(`${JSON.stringify({ msg: 'loop delay', ms: delay.max / 1e6 })}\n`);
    delay.reset();
  });
}
