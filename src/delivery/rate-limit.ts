import { type Clock, followClock } from '../domain/clock.ts';
import { createBreaker, type ResponseKind } from './breaker.ts';
import { createRequestWindow, type SlotPolicy } from './request-window.ts';

/** Room for one channel's next requests. */
export interface RequestSlot {
  /** Counts a request that starts now. */
  countRequest(): void;
  /** Ends it: its requests got their responses, or there will be none. May be called again. */
  release(): void;
}

/** What decides when the next request may start, for the whole process. */
export type RateLimit = ReturnType<typeof createRateLimit>;

/** Limits the requests of the whole process: how many per second, and none while the breaker is open. */
export function createRateLimit(clock: Clock) {
  const requests = createRequestWindow();
  const breaker = createBreaker();
  const read = followClock(clock, (ms) => {
    requests.setBack(ms);
    breaker.setBack(ms);
  });

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
        countRequest: () => reserved.recordSent(read()),
        release() {
          if (isReleased) return;
          isReleased = true;
          breaker.end();
          reserved.release(read());
        },
      };
    },
    /** Records what each response says about all sending. */
    recordResponse: (kind: ResponseKind, retryAfterMs = 0): void => breaker.recordResponse(kind, retryAfterMs, read()),
    recordTokenCheck: (isAccepted: boolean): void => breaker.recordTokenCheck(isAccepted, read()),
    state: () => breaker.state(read()),
    pause: () => breaker.pause(read()),
  };
}
