import { type Clock, MINUTE, SECOND } from '../domain/clock.ts';

/** Requests a second for everything, below Discord's 50. */
export const PER_SECOND = 40;
/** Discord's own limit: no more may arrive in any second, although some take longer on their way than others. */
const ARRIVING = 50;
/** How much longer. */
const LONGER_MS = 200;
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
  /** It was answered, or there will be none. */
  end(): void;
}

/** How a request makes room for more urgent ones. */
export interface Leaving {
  /** Milliseconds that it stays behind the request before. */
  apart: number;
  /** How many of the requests of a second it leaves free. */
  places: number;
  /** Milliseconds after which it asks again, if it had to wait. */
  during: number;
}

interface Sent {
  at: number;
  /** It got to Discord by then: when it was answered, if not before. */
  by: number;
}

/** Decides when the next request may go out, for everything together. */
export function createPace(clock: Clock) {
  /** The requests of the last second, and how many have a turn and were not sent yet. */
  let sent: Sent[] = [];
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
      for (const one of sent) {
        one.at -= back;
        one.by -= back;
      }
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

  /** Milliseconds until one more may go out, beside those that have a turn already; 0 or less: now. */
  const untilRoom = (now: number, places: number): number => {
    const most = PER_SECOND - places;
    if (unsent >= most) return SECOND;
    const latest = sent.at(unsent - most)?.at ?? Number.NEGATIVE_INFINITY;
    const arrived = sent.map(({ by }) => by).sort((a, b) => a - b);
    return Math.max(latest, arrived.at(unsent - ARRIVING) ?? Number.NEGATIVE_INFINITY) + SECOND - now;
  };

  const turn = (at: number): Turn => {
    const own: Sent[] = [];
    let isOver = false;
    const before = takenAt;
    takenAt = at;
    unsent++;
    return {
      send() {
        if (own.length === 0) unsent--;
        const now = look();
        const one = { at: now, by: now + LONGER_MS };
        own.push(one);
        sent = [...sent.filter(({ by }) => by + SECOND > now), one];
      },
      end() {
        if (isOver) return;
        isOver = true;
        probing = false;
        const now = look();
        for (const one of own) one.by = Math.min(one.by, now);
        if (own.length > 0) return;
        unsent--;
        if (takenAt === at) takenAt = before;
      },
    };
  };

  return {
    /** Room for a request, else how many milliseconds to wait for it. */
    take({ apart, places, during }: Leaving): Turn | number {
      const now = look();
      if (now < holdUntil) return holdUntil - now;
      // After a fault that stopped everything, a single request tries whether it is over.
      if ((breakerOpen || !authorised) && probing) return SECOND;
      const wait = Math.max(untilRoom(now, places), takenAt + apart - now);
      if (wait > 0) return Math.min(wait, during);
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
        hold(now + retryAfterMs);
        breakerOpen = true;
      } else if (outcome !== 'unsure' && now >= holdUntil) {
        authorised = true;
        breakerOpen = false;
        breakerWait = 0;
      }
    },
    /** What the gateway says of the token; the next request tells whether it holds for sending, too. */
    token(accepted: boolean): void {
      if (!accepted) authorised = false;
      else if (look() >= holdUntil) authorised = true;
    },
    /** `breaker`: sending is held back for everything, after a fault of everything or too many refusals. */
    state() {
      const now = look();
      const invalidRequests = invalid.filter((at) => at > now - INVALID_WINDOW).length;
      return { authorised, breaker: breakerOpen || invalidRequests >= INVALID_LIMIT, invalidRequests };
    },
  };
}

/** A wait before the next attempt: 1 s doubling to 60 s, with full jitter. */
export function backoff(attempt: number, random: () => number): number {
  return Math.ceil(random() * Math.min(MINUTE, SECOND * 2 ** Math.min(attempt - 1, 6)));
}
