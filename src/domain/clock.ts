/** Time as an argument: tests turn it by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs once after `ms`; gives back how to call that off. */
  after(ms: number, run: () => void): () => void;
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
