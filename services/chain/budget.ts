import { type Clock, SECOND } from '../../src/domain/clock.ts';

/** Limits how many calls are made per second. */
export interface Budget {
  /** Resolves when the next call may be made. First come, first served. */
  take(): Promise<void>;
  /** Call when the node reports too many calls: the rate sinks at once and recovers slowly. */
  slowDown(): void;
  /** Calls per second now; null while there is no limit. */
  rate(): number | null;
  /** Ends the limit, and with it every wait, because no more calls are made. */
  close(): void;
}

const MIN_RATE = 2;
/** A learned rate grows by this factor every {@link RECOVERY_MS}. */
const RECOVERY = 1.1;
const RECOVERY_MS = 10 * SECOND;
/** A learned limit ends once it allows this many times the calls that were made when the node refused. */
const FORGET_FACTOR = 4;

/** Creates a budget of `perSecond` calls; without it there is no limit until {@link Budget.slowDown} is called. */
export function createBudget(clock: Clock, perSecond?: number): Budget {
  let learned: { rate: number; refusedAt: number; since: number } | null = null;
  let nextAt = 0;
  let windowStart = 0;
  let made = 0;
  let madeBefore = 0;
  let isClosed = false;
  const waiting = new Set<() => void>();

  function rate(): number | null {
    if (learned !== null) {
      const steps = Math.floor((clock.now() - learned.since) / RECOVERY_MS);
      const grown = learned.rate * RECOVERY ** steps;
      if (grown >= learned.refusedAt * FORGET_FACTOR) learned = null;
      else return perSecond === undefined ? grown : Math.min(grown, perSecond);
    }
    return perSecond ?? null;
  }

  function count(now: number): void {
    if (now - windowStart >= SECOND) {
      madeBefore = now - windowStart < 2 * SECOND ? made : 0;
      windowStart = now;
      made = 0;
    }
    made++;
  }

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      function end(): void {
        cancel();
        waiting.delete(end);
        resolve();
      }

      const cancel = clock.after(ms, end);
      waiting.add(end);
    });

  return {
    rate,
    take() {
      const now = clock.now();
      count(now);
      const limit = rate();
      if (limit === null || isClosed) return Promise.resolve();
      const spacing = SECOND / limit;
      // Up to a quarter of a second's calls may be made at once.
      nextAt = Math.max(nextAt, now - SECOND / 4) + spacing;
      const wait = nextAt - now - spacing;
      return wait <= 0 ? Promise.resolve() : pause(wait);
    },
    slowDown() {
      const now = clock.now();
      if (learned !== null && now - learned.since < SECOND) return; // Calls that were under way at the same time.
      const refusedAt = Math.max(MIN_RATE, made, madeBefore, rate() ?? 0);
      learned = { rate: Math.max(MIN_RATE, (rate() ?? refusedAt) * 0.7), refusedAt, since: now };
    },
    close() {
      isClosed = true;
      for (const end of waiting) end();
    },
  };
}
