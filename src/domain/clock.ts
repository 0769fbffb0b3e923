/** Units of time, in milliseconds as all times here are. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Time as an argument: tests turn it by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs once after `ms`; gives back how to call that off. */
  after(ms: number, run: () => void): () => void;
}

/** A clock that was set back by more is believed at once; nothing comes again after just so long. */
const BELIEVED_MS = 15 * MINUTE;

/**
 * The time of a clock, but for this: when that is set back by minutes, as machines correct themselves, time goes on, one
 * part in twenty slower, until the clock has caught up. What came shortly before and shortly after is as far apart as it
 * was. `elapsed`: milliseconds that really passed, since whenever.
 */
export function steadyTime(now: () => number, elapsed: () => number): () => number {
  let time = now();
  let passed = elapsed();
  return () => {
    const [wall, at] = [now(), elapsed()];
    const slow = time + (at - passed) * 0.95;
    passed = at;
    time = slow - wall > BELIEVED_MS ? wall : Math.max(wall, slow);
    return Math.floor(time);
  };
}

/** The real time; its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: Date.now,
  after(ms, run) {
    // Longer delays overflow Node's timer; whoever waits that long looks again.
    const timer = setTimeout(run, Math.min(Math.max(0, ms), 2_147_483_647));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** What comes of the work within `ms`; null when it takes longer, and then it goes on all the same. */
export function inTime<Value>(work: Promise<Value>, ms: number, clock: Clock = systemClock): Promise<Value | null> {
  const late = Promise.withResolvers<null>();
  const cancel = clock.after(ms, () => late.resolve(null));
  return Promise.race([work, late.promise]).finally(cancel);
}
