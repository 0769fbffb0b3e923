import { type Clock, MINUTE, SECOND } from '../../src/domain/clock.ts';

/** Spares receivers that let attempts time out: each holds a place that others wait for. */
export interface Breaker {
  /** When a receiver may be tried, in milliseconds since 1970; 0: now. While it is tried once, others wait for that. */
  openUntil(origin: string): number;
  /** An attempt begins. */
  begin(origin: string): void;
  /** An attempt ended, by time-out or not. A refused connection costs nothing and counts as no time-out. */
  end(origin: string, isTimedOut: boolean): void;
  /** Lets every receiver be tried now. */
  reset(): void;
  /** Receivers that are spared now. */
  open(): string[];
}

/** Time-outs in a row after which a receiver is spared. */
const FAILURES = 5;
const MIN_MS = 5 * SECOND;
const MAX_MS = MINUTE;

/** Creates a breaker for all receivers, by origin. */
export function createBreaker(clock: Clock): Breaker {
  const states = new Map<string, { failures: number; until: number; isProbing: boolean }>();
  return {
    openUntil(origin) {
      const state = states.get(origin);
      if (state === undefined || state.failures < FAILURES) return 0;
      if (state.isProbing) return clock.now() + SECOND;
      return state.until > clock.now() ? state.until : 0;
    },
    begin(origin) {
      const state = states.get(origin);
      if (state !== undefined && state.failures >= FAILURES) state.isProbing = true;
    },
    end(origin, isTimedOut) {
      if (!isTimedOut) {
        states.delete(origin);
        return;
      }
      const failures = (states.get(origin)?.failures ?? 0) + 1;
      const wait = Math.min(MIN_MS * 2 ** Math.max(0, failures - FAILURES), MAX_MS);
      states.set(origin, { failures, until: clock.now() + wait, isProbing: false });
    },
    reset() {
      states.clear();
    },
    open: () => [...states].flatMap(([origin, { failures }]) => (failures >= FAILURES ? [origin] : [])),
  };
}
