import type { Clock } from '../domain/clock.ts';
import { createBreaker, type Verdict } from './breaker.ts';
import { createRequestWindow, type SlotPolicy } from './request-window.ts';

/** Room for one channel's next requests. */
export interface RequestSlot {
  /** Counts a request that starts now. */
  requestStarted(): void;
  /** Its requests got their responses, or there will be none. May be called again. */
  release(): void;
}

/** What decides when the next request may start, for the whole process. */
export type RateLimit = ReturnType<typeof createRateLimit>;

/** Limits the requests of the whole process: how many per second, and none while the breaker is open. */
export function createRateLimit(clock: Clock) {
  const requests = createRequestWindow();
  const breaker = createBreaker();
  let readAt = clock.now();

  /** The time. When the clock was set back since the last call, every remembered time is set back with it. */
  function read(): number {
    const now = clock.now();
    const back = readAt - now;
    readAt = now;
    if (back > 0) {
      requests.setBack(back);
      breaker.setBack(back);
    }
    return now;
  }

  return {
    /** A slot for a request that starts now, or how many milliseconds to wait for one. */
    take(policy: SlotPolicy): RequestSlot | number {
      const now = read();
      const wait = breaker.wait(now) || requests.wait(policy, now);
      if (wait > 0) return wait;
      breaker.begin();
      const reserved = requests.reserve(now);
      let isReleased = false;
      return {
        requestStarted: () => reserved.sent(read()),
        release() {
          if (isReleased) return;
          isReleased = true;
          breaker.end();
          reserved.released(read());
        },
      };
    },
    /** Records what each response says about all sending. */
    answered: (verdict: Verdict, retryAfterMs = 0): void => breaker.answered(verdict, retryAfterMs, read()),
    tokenChecked: (isAccepted: boolean): void => breaker.tokenChecked(isAccepted, read()),
    state: () => breaker.state(read()),
    pause: () => breaker.pause(read()),
  };
}
