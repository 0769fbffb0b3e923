import { backOff, MINUTE, SECOND } from '../domain/clock.ts';
import type { SendingPause, SendOutcome } from '../domain/sender.ts';
import { createGuildLimits, createRefusals } from './guild-limits.ts';

/** Requests that begin in any second; Discord allows 50. */
const PER_SECOND = 40;
const MAX_IN_FLIGHT = 40;
/** Requests refused within ten minutes at which all sending pauses; Discord bans at 10,000. */
const MAX_REFUSALS = 500;
const BREAKER_BACK_OFF = { base: MINUTE, max: 15 * MINUTE };
const UNAUTHORIZED_PAUSE_MS = 5 * MINUTE;
const NEVER = Number.POSITIVE_INFINITY;

/** Room for one channel's next requests. */
export interface RequestSlot {
  countRequest(now: number): void;
  /** Ends it: its requests got their responses, or there will be none. May be called again. */
  release(): void;
}

/** Creates the limits of the whole process and of each guild. Time is elapsed milliseconds, and always an argument. */
export function createLimits() {
  const requests = createRequestWindow();
  const breaker = createBreaker();
  const guilds = createGuildLimits();
  return {
    /** A slot for a request that starts now, or how many milliseconds to wait for one. */
    take(now: number): RequestSlot | number {
      const wait = breaker.wait(now) || requests.wait(now);
      if (wait > 0) return wait;
      breaker.begin();
      const slot = requests.take();
      return {
        ...slot,
        release() {
          if (slot.release()) breaker.end();
        },
      };
    },
    /** Records what a response says about all sending and about its guild. */
    record(outcome: SendOutcome, guildId: string | null, now: number): void {
      breaker.record(outcome, now);
      const isRefusal = outcome.status === 'forbidden' || (outcome.status === 'rate-limited' && !outcome.global);
      if (isRefusal && !isLocal(outcome) && guildId !== null) guilds.recordRefusal(guildId, now);
    },
    recordTokenCheck: breaker.recordTokenCheck,
    /** Why nothing is sent now, and for how many milliseconds; null: sending goes on. */
    pause: breaker.pause,
    guilds,
    state: (now: number) => ({ ...breaker.state(now), pausedGuilds: guilds.paused() }),
  };
}

export type Limits = ReturnType<typeof createLimits>;

/** The library knew the limit and sent no request. */
const isLocal = (outcome: SendOutcome): boolean => outcome.status === 'rate-limited' && outcome.local;

/** The requests of the last second, and those that are about to begin. */
function createRequestWindow() {
  /** When each began; `NEVER`: it did not yet. */
  let begun: { at: number }[] = [];
  let inFlight = 0;
  return {
    wait(now: number): number {
      begun = begun.filter(({ at }) => at > now - SECOND);
      if (inFlight >= MAX_IN_FLIGHT) return NEVER;
      return begun.length < PER_SECOND ? 0 : Math.min(...begun.map(({ at }) => at)) + SECOND - now;
    },
    take() {
      const first = { at: NEVER };
      begun.push(first);
      inFlight++;
      let isReleased = false;
      return {
        countRequest(now: number): void {
          if (first.at === NEVER) first.at = now;
          else begun.push({ at: now });
        },
        /** Returns false if it was released before. */
        release(): boolean {
          if (isReleased) return false;
          isReleased = true;
          inFlight--;
          if (first.at === NEVER) begun = begun.filter((request) => request !== first);
          return true;
        },
      };
    },
  };
}

/** Pauses all sending after faults that concern every channel; then one request probes whether they are over. */
function createBreaker() {
  const refusals = createRefusals();
  let until = 0;
  /** Pauses since Discord last responded. */
  let pauses = 0;
  let isOpen = false;
  let isProbing = false;
  let isAuthorized = true;

  const left = (now: number): number => Math.max(0, until - now);
  const needsProbe = () => isOpen || !isAuthorized;

  function extend(to: number): void {
    until = Math.max(until, to);
  }

  function recordRefusal(now: number): void {
    if (refusals.add(now) >= MAX_REFUSALS) extend(refusals.firstEnd());
  }

  /** Discord itself responded. */
  function close(now: number): void {
    if (left(now) > 0) return;
    isAuthorized = true;
    isOpen = false;
    pauses = 0;
  }

  return {
    wait: (now: number): number => left(now) || (needsProbe() && isProbing ? SECOND : 0),
    begin(): void {
      if (needsProbe()) isProbing = true;
    },
    /** Records that a request ended, with or without a response. */
    end(): void {
      isProbing = false;
    },
    record(outcome: SendOutcome, now: number): void {
      if (isLocal(outcome)) return;
      isProbing = false;
      switch (outcome.status) {
        case 'forbidden':
          recordRefusal(now);
          close(now);
          break;
        case 'rate-limited':
          recordRefusal(now);
          if (outcome.global) extend(now + outcome.retryAfterMs);
          else close(now);
          break;
        case 'breaker':
          recordRefusal(now);
          // Requests that were in flight when the breaker opened report the same fault; they must not lengthen the pause.
          if (left(now) === 0) until = now + backOff(pauses++, BREAKER_BACK_OFF);
          extend(now + (outcome.retryAfterMs ?? 0));
          isOpen = true;
          break;
        case 'unauthorized':
          recordRefusal(now);
          isAuthorized = false;
          extend(now + UNAUTHORIZED_PAUSE_MS);
          break;
        case 'sent':
        case 'gone':
        case 'refused':
          close(now);
          break;
        case 'unconfirmed':
      }
    },
    /** Records whether the gateway's token was accepted; the next request shows whether that holds for sending. */
    recordTokenCheck(isAccepted: boolean, now: number): void {
      if (!isAccepted) isAuthorized = false;
      else if (left(now) === 0) isAuthorized = true;
    },
    /** `breaker`: all sending is paused, after a fault of everything or too many refusals. */
    state(now: number) {
      const invalidRequests = refusals.count(now);
      return { authorized: isAuthorized, breaker: isOpen || invalidRequests >= MAX_REFUSALS, invalidRequests };
    },
    pause(now: number): (Pick<SendingPause, 'reason'> & { waitMs: number }) | null {
      if (left(now) === 0) return null;
      return { reason: !isAuthorized ? 'token' : isOpen ? 'breaker' : 'rate', waitMs: left(now) };
    },
  };
}
