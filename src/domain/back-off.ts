/** How long the waits between attempts are, in milliseconds. */
export interface BackOff {
  /** The first wait; each further one is twice as long. */
  base: number;
  max: number;
  /** Share of a wait that is random, from 0 to 1; default 0. */
  jitter?: number;
}

/** Returns the milliseconds to wait after `doublings` earlier waits. `random`: from 0 to 1. */
export function backOff(doublings: number, { base, max, jitter = 0 }: BackOff, random = 1): number {
  return Math.min(max, base * 2 ** doublings) * (1 - jitter + jitter * random);
}
