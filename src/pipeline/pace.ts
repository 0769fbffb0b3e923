import type { Clock } from '../domain/clock.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Requests a second for everything, below Discord's 50. */
const PER_SECOND = 40;
/** Spread over the second: what piles up on the way must not come to more than 50 in one of Discord's seconds. */
const PER_SLICE = 10;
const SLICE = SECOND / 4;
/** Refused requests in ten minutes at which sending pauses; Discord bans at 10,000. */
const INVALID_LIMIT = 500;
const INVALID_WINDOW = 10 * MINUTE;
const BREAKER_FIRST = MINUTE;
const BREAKER_MOST = 15 * MINUTE;
const UNAUTHORISED_WAIT = 5 * MINUTE;

/** Decides when the next request may go out, for everything together. */
export function createPace(clock: Clock) {
  let spent: number[] = [];
  let invalid: number[] = [];
  let holdUntil = 0;
  let breakerWait = 0;
  let breakerOpen = false;
  let probing = false;
  let authorised = true;
  let looked = clock.now();

  /** The time; when the clock was set back since the last look, everything known is set back with it. */
  const look = (): number => {
    const now = clock.now();
    const back = looked - now;
    looked = now;
    if (back > 0) {
      spent = spent.map((at) => at - back);
      invalid = invalid.map((at) => at - back);
      holdUntil -= back;
    }
    return now;
  };
  const hold = (until: number) => {
    holdUntil = Math.max(holdUntil, until);
  };
  const countInvalid = (now: number) => {
    invalid = invalid.filter((at) => at > now - INVALID_WINDOW);
    invalid.push(now);
    if (invalid.length >= INVALID_LIMIT) hold(invalid[0]! + INVALID_WINDOW);
  };

  return {
    /** 0 when a request may go out now (then it is counted), else how many milliseconds to wait. */
    take(): number {
      const now = look();
      if (now < holdUntil) return holdUntil - now;
      // After a fault of everything one request tries whether it is over.
      if ((breakerOpen || !authorised) && probing) return SECOND;
      spent = spent.filter((at) => at > now - SECOND);
      if (spent.length >= PER_SECOND) return Math.max(1, spent[0]! + SECOND - now);
      const sliceEnd = (spent.at(-PER_SLICE) ?? Number.NEGATIVE_INFINITY) + SLICE;
      if (now < sliceEnd) return sliceEnd - now;
      spent.push(now);
      if (breakerOpen || !authorised) probing = true;
      return 0;
    },
    /** Gives back what was taken for a request that was not made. */
    giveBack(): void {
      spent.pop();
      probing = false;
    },
    /** Every request's answer comes by here. */
    answered(outcome: 'fine' | 'unsure' | 'invalid' | 'global' | 'breaker' | 'unauthorised', retryAfterMs = 0): void {
      const now = look();
      probing = false;
      if (outcome === 'invalid' || outcome === 'global' || outcome === 'breaker' || outcome === 'unauthorised')
        countInvalid(now);
      if (outcome === 'global') hold(now + retryAfterMs);
      if (outcome === 'unauthorised') {
        authorised = false;
        hold(now + UNAUTHORISED_WAIT);
      } else if (outcome === 'breaker') {
        // Requests that were under way when the breaker opened report the same fault; they must not lengthen it.
        if (now >= holdUntil) {
          breakerWait = Math.min(BREAKER_MOST, breakerWait === 0 ? BREAKER_FIRST : breakerWait * 2);
          hold(now + breakerWait);
        }
        breakerOpen = true;
      } else if (outcome !== 'unsure' && now >= holdUntil) {
        authorised = true;
        breakerOpen = false;
        breakerWait = 0;
      }
    },
    state() {
      const now = look();
      const invalidRequests = invalid.filter((at) => at > now - INVALID_WINDOW).length;
      return { authorised, breaker: breakerOpen, invalidRequests, heldUntil: holdUntil };
    },
  };
}

/** A wait before the next attempt: 1 s doubling to 60 s, with full jitter. */
export function backoff(attempt: number, random: () => number): number {
  return Math.ceil(random() * Math.min(MINUTE, SECOND * 2 ** Math.min(attempt - 1, 6)));
}
