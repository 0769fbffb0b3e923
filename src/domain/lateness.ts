import { DAY, MINUTE } from './clock.ts';

/** The block that a scope's events had reached at a time. */
export interface Head {
  block: number;
  at: number;
}

/** No delivery is repeated for longer, so older samples do not matter. */
export const HEADS_MS = 3 * DAY;
/** One or two retries are normal; the third is sent after eleven minutes. */
const LATE_MS = 10 * MINUTE;

/**
 * How many milliseconds late a transfer is; null: it is not late, as far as is known. `passedAt`: when the first two
 * samples showed its scope's events beyond its block.
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
