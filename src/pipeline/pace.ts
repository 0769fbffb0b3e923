import type { Clock } from '../domain/clock.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Requests a second for everything, below Discord's 50. */
export const PER_SECOND = 40;
/** Spread a little, and not more than those 50 in a second even when some take up to 200 ms longer to get there. */
const LIMITS = [
  { most: 10, ms: SECOND / 10 },
  { most: PER_SECOND, ms: SECOND },
  { most: 50, ms: SECOND + 200 },
];
/** Refused requests in ten minutes at which sending pauses; Discord bans at 10,000. */
const INVALID_LIMIT = 500;
const INVALID_WINDOW = 10 * MINUTE;
const BREAKER_FIRST = MINUTE;
const BREAKER_MOST = 15 * MINUTE;
const UNAUTHORISED_WAIT = 5 * MINUTE;

/** Room for a request, which counts from when it is sent. */
export interface Turn {
  /** A request goes out now. */
  send(): void;
  /** There will be no request, or there was none. */
  giveBack(): void;
}

/** Decides when the next request may go out, for everything together. */
export function createPace(clock: Clock) {
  /** When the latest requests were sent, and how many more may be at any moment. */
  let sent: number[] = [];
  let unsent = 0;
  let takenAt = Number.NEGATIVE_INFINITY;
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
      sent = sent.map((at) => at - back);
      takenAt -= back;
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

  const turn = (at: number): Turn => {
    let isUnsent = true;
    const before = takenAt;
    takenAt = at;
    unsent++;
    return {
      send() {
        if (isUnsent) unsent--;
        isUnsent = false;
        sent = [...sent.slice(1 - LIMITS.at(-1)!.most), look()];
      },
      giveBack() {
        probing = false;
        if (!isUnsent) return;
        isUnsent = false;
        unsent--;
        if (takenAt === at) takenAt = before;
      },
    };
  };

  return {
    /** Room for a request, at least `apart` milliseconds after the one before, else how many milliseconds to wait for it. */
    take(apart: number): Turn | number {
      const now = look();
      if (now < holdUntil) return holdUntil - now;
      // After a fault of everything one request tries whether it is over.
      if ((breakerOpen || !authorised) && probing) return SECOND;
      const waits = LIMITS.map(({ most, ms }) =>
        unsent < most ? (sent.at(unsent - most) ?? Number.NEGATIVE_INFINITY) + ms - now : ms,
      );
      const wait = Math.max(...waits, takenAt + apart - now);
      if (wait > 0) return wait;
      if (breakerOpen || !authorised) probing = true;
      return turn(now);
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
