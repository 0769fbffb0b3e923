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

/** A clock that was set back by more than this is believed at once: no retry comes after just about so long. */
const BELIEVED_MS = 15 * MINUTE;

/**
 * A clock that does not jump back by minutes when the machine's own is corrected. It then goes on, one part in twenty
 * slower, until the machine's has caught up: what came shortly before and shortly after that is as far apart as it
 * really was. `elapsed`: milliseconds that really passed, since any moment.
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
    // A longer delay would overflow Node's timer; whoever waits so long has to look again.
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
