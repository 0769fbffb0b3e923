import { MINUTE } from './durations.ts';

export { DAY, HOUR, MINUTE, SECOND } from './durations.ts';

/** Time as an argument: tests advance it by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs once after `ms`; returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** A clock that was set back by more than this is trusted at once: no retry arrives after about that long. */
const TRUSTED_JUMP_MS = 15 * MINUTE;

/**
 * Creates a clock that does not jump back by minutes when the machine's clock is corrected. It then runs 5 % slower
 * until the machine's clock has caught up, so the time between two close events stays about right. `elapsed`:
 * milliseconds that really passed, since any moment.
 */
export function steadyTime(now: () => number, elapsed: () => number): () => number {
  let time = now();
  let passed = elapsed();
  return () => {
    const [wall, at] = [now(), elapsed()];
    const slow = time + (at - passed) * 0.95;
    passed = at;
    time = slow - wall > TRUSTED_JUMP_MS ? wall : Math.max(wall, slow);
    return Math.floor(time);
  };
}

/** The real time; its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: Date.now,
  after(ms, run) {
    // A longer delay would overflow Node's timer. The caller then checks again.
    const timer = setTimeout(run, Math.min(Math.max(0, ms), 2_147_483_647));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Returns a function that reads the clock. When the clock was set back since the last reading, it calls `onSetBack` first. */
export function followClock(clock: Pick<Clock, 'now'>, onSetBack: (ms: number) => void): () => number {
  let readAt = clock.now();
  return () => {
    const now = clock.now();
    if (now < readAt) onSetBack(readAt - now);
    readAt = now;
    return now;
  };
}

/** The result of the work within `ms`; null when it takes longer, while it continues. */
export function inTime<Value>(
  work: Promise<Value>,
  ms: number,
  { after }: Pick<Clock, 'after'>,
): Promise<Value | null> {
  const late = Promise.withResolvers<null>();
  const cancel = after(ms, () => late.resolve(null));
  return Promise.race([work, late.promise]).finally(cancel);
}
