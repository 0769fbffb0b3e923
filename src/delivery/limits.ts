import { backOff, MINUTE, SECOND } from '../domain/clock.ts';
import type { SendingPause, SendOutcome } from '../domain/sender.ts';

/** Requests that begin in any second; Discord allows 50. */
const PER_SECOND = 40;
/** Refused requests in ten minutes at which all sending pauses; Discord bans at 10,000. */
const MAX_REFUSALS = 500;
/** The same at which the channels of one guild are probed one by one. */
const MAX_REFUSALS_OF_GUILD = 10;
/** Each of them may be refused. */
const MAX_IN_FLIGHT_OF_GUILD = 20;
const WINDOW_MS = 10 * MINUTE;
const GUILD_PROBE_MS = MINUTE;
const BACK_OFF = { base: MINUTE, max: 15 * MINUTE };
const NEVER = Number.POSITIVE_INFINITY;

export interface RequestSlot {
  /** A search for a message makes several requests. */
  countRequest(now: number): void;
  release(now: number): void;
}

/** Limits of the whole process and of each guild. Time is elapsed milliseconds, and always an argument. */
export function createLimits() {
  const breaker = createBreaker();
  const guilds = createGuildLimits();
  /** Of the last second; `at` is infinite for those that turns are about to make. */
  let requests: { at: number }[] = [];
  let inFlight = 0;

  return {
    /** A slot for a turn of the guild that starts now, or milliseconds to wait for one. */
    take(guildId: string, now: number): RequestSlot | number {
      requests = requests.filter(({ at }) => at > now - SECOND);
      const isFull = requests.length >= PER_SECOND;
      const fullMs = isFull ? Math.min(...requests.map(({ at }) => at)) + SECOND - now : 0;
      const wait = breaker.wait(now, inFlight) || fullMs;
      if (wait > 0) return wait;
      const first = { at: NEVER };
      requests.push(first);
      inFlight++;
      guilds.begin(guildId);
      return {
        countRequest(at) {
          if (first.at === NEVER) first.at = at;
          else requests.push({ at });
        },
        release(at) {
          if (first.at === NEVER) requests = requests.filter((request) => request !== first);
          inFlight--;
          guilds.end(guildId, at);
        },
      };
    },
    record(outcome: SendOutcome, guildId: string, now: number): void {
      if (outcome.status === 'rate-limited' && outcome.local) return;
      breaker.record(outcome, now);
      if (outcome.status === 'forbidden' || (outcome.status === 'rate-limited' && !outcome.global))
        guilds.recordRefusal(guildId, now);
    },
    pause: breaker.pause,
    guildWait: guilds.wait,
    guildPause: guilds.pause,
    state: (now: number) => ({ ...breaker.state(now), pausedGuilds: guilds.paused(now) }),
  };
}

const inWindow = (refusals: readonly number[], now: number): number[] => refusals.filter((at) => at > now - WINDOW_MS);

/** Pauses all sending after faults that concern every channel; then one request at a time probes whether they are over. */
function createBreaker() {
  let refusals: number[] = [];
  let fault: 'token' | 'breaker' | null = null;
  let until = 0;
  let pausesInARow = 0;

  function pauseMs(now: number): number {
    refusals = inWindow(refusals, now);
    const tooManyMs = refusals.length >= MAX_REFUSALS ? refusals[0]! + WINDOW_MS - now : 0;
    return Math.max(0, until - now, tooManyMs);
  }

  function open(cause: typeof fault, now: number, retryAfterMs = 0): void {
    // Requests that were in flight when the breaker opened report the same fault; they must not lengthen the pause.
    if (until <= now) until = now + backOff(pausesInARow++, BACK_OFF);
    until = Math.max(until, now + retryAfterMs);
    fault = cause;
  }

  return {
    /** Milliseconds; infinite until the probe in flight has ended. */
    wait: (now: number, inFlight: number): number => pauseMs(now) || (fault !== null && inFlight > 0 ? NEVER : 0),
    record(outcome: SendOutcome, now: number): void {
      const { status } = outcome;
      if (status === 'unconfirmed') return;
      if (status !== 'sent' && status !== 'gone' && status !== 'refused') refusals.push(now);
      if (status === 'breaker') open('breaker', now, outcome.retryAfterMs);
      else if (status === 'unauthorized') open('token', now);
      else if (status === 'rate-limited' && outcome.global) until = Math.max(until, now + outcome.retryAfterMs);
      else if (until <= now) {
        // Discord itself responded.
        fault = null;
        pausesInARow = 0;
      }
    },
    state(now: number) {
      refusals = inWindow(refusals, now);
      const hasTooMany = refusals.length >= MAX_REFUSALS;
      return {
        authorized: fault !== 'token',
        breaker: fault === 'breaker' || hasTooMany,
        invalidRequests: refusals.length,
      };
    },
    pause: (now: number): Pick<SendingPause, 'reason' | 'until'> | null =>
      pauseMs(now) === 0 ? null : { reason: fault ?? 'rate', until: now + pauseMs(now) },
  };
}

/** One guild must not use up the process's own limit of refusals. */
function createGuildLimits() {
  /** Only guilds with requests in flight or refusals. */
  const guilds = new Map<string, { inFlight: number; refusals: number[] }>();
  const limitOf = (guildId: string) => guilds.get(guildId) ?? { inFlight: 0, refusals: [] };

  /** null: the guild's channels do not wait for one another. */
  function pause(guildId: string, now: number): { probeAt: number; refusals: number } | null {
    const refusals = inWindow(limitOf(guildId).refusals, now);
    if (refusals.length < MAX_REFUSALS_OF_GUILD) return null;
    const probeAt = refusals.at(-1)! + GUILD_PROBE_MS;
    return probeAt > now ? { probeAt, refusals: refusals.length } : null;
  }

  return {
    /** Milliseconds; infinite until a request in flight has ended. */
    wait(guildId: string, now: number): number {
      const { inFlight, refusals } = limitOf(guildId);
      const refused = inWindow(refusals, now).length;
      const max = refused < MAX_REFUSALS_OF_GUILD ? MAX_IN_FLIGHT_OF_GUILD - refused : 1;
      if (inFlight >= max) return NEVER;
      return (pause(guildId, now)?.probeAt ?? now) - now;
    },
    begin(guildId: string): void {
      const { inFlight, refusals } = limitOf(guildId);
      guilds.set(guildId, { inFlight: inFlight + 1, refusals });
    },
    end(guildId: string, now: number): void {
      const limit = limitOf(guildId);
      const [inFlight, refusals] = [limit.inFlight - 1, inWindow(limit.refusals, now)];
      if (inFlight === 0 && refusals.length === 0) guilds.delete(guildId);
      else guilds.set(guildId, { inFlight, refusals });
    },
    recordRefusal(guildId: string, now: number): void {
      const { inFlight, refusals } = limitOf(guildId);
      guilds.set(guildId, { inFlight, refusals: [...inWindow(refusals, now), now] });
    },
    pause,
    paused: (now: number): number => [...guilds.keys()].filter((guildId) => pause(guildId, now) !== null).length,
  };
}
