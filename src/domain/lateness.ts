import { DAY, MINUTE } from './clock.ts';

/** How far a scope's events had come at a time. */
export interface Head {
  block: number;
  at: number;
}

/** No delivery is repeated for longer, so samples that are older than this say nothing about lateness. */
export const HEADS_MS = 3 * DAY;
/** One retry or two are ordinary; the third comes after eleven minutes. */
const LATE_MS = 10 * MINUTE;

/**
 * By how many milliseconds a transfer is late; null: it is not, as far as is known. `passedAt`: when its scope's events
 * had gone beyond its block, by the first two samples.
 */
export function latenessOf(passedAt: readonly number[], at: number): number | null {
  const [first, second] = passedAt;
  if (first === undefined || second === undefined || Math.max(first, second) > at - LATE_MS) return null;
  return at - Math.min(first, second);
}

/**
 * Whether a head is kept as the next sample after the latest three, newest first: one a minute, and only progress. One
 * absurd block number must not count as progress, so the middle of the three does.
 */
export function isNextHead(latest: readonly Head[], { block, at }: Head): boolean {
  const middle = latest.map((head) => head.block).sort((a, b) => a - b)[(latest.length - 1) >> 1];
  return middle === undefined || (at >= latest[0]!.at + MINUTE && block > middle);
}
