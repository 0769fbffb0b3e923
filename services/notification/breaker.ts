import { backOff } from '../../src/domain/back-off.ts';
import { type Clock, MINUTE, SECOND } from '../../src/domain/clock.ts';

/** A circuit breaker: pauses receivers that let attempts time out, because each attempt occupies a slot. */
export interface Breaker {
  /** When a receiver may be tried, in milliseconds since 1970; 0: now. While it is paused, one attempt at a time probes it. */
  openUntil(origin: string): number;
  /** Records that an attempt begins. */
  begin(origin: string): void;
  /** Records that an attempt ended. A refused connection is not a timeout. */
  end(origin: string, isTimedOut: boolean): void;
  /** Lets every receiver be tried now. */
  reset(): void;
  /** Receivers that are paused now. */
  open(): string[];
}

/** Consecutive timeouts before a receiver is paused. */
const FAILURES = 5;
const PAUSES = { base: 5 * SECOND, max: MINUTE };

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
      const wait = backOff(Math.max(0, failures - FAILURES), PAUSES);
      states.set(origin, { failures, until: clock.now() + wait, isProbing: false });
    },
    reset() {
      states.clear();
    },
    open: () => [...states].flatMap(([origin, { failures }]) => (failures >= FAILURES ? [origin] : [])),
  };
}
