import { MINUTE, SECOND } from '../domain/clock.ts';

const FIRST_WAIT_MS = SECOND;
const LONGEST_WAIT_MS = MINUTE;

/** Milliseconds to wait after this many failures: doubling, with jitter between half and whole. `random`: from 0 to 1. */
export function backOff(failures: number, random: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 10)) * (0.5 + random / 2);
}
