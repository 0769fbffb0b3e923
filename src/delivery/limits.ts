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
  release(): void;
}

/** Limits of the whole process and of each guild. Time is elapsed milliseconds, and always an argument. */
export function createLimits() {
  const breaker = createBreaker();
  const guilds = createGuildLimits();
  /** Of the last second; `at` is infinite for those that turns are about to make. */
  let requests: { at: number }[] = [];

  function requestWait(now: number): number {
    requests = requests.filter(({ at }) => at > now - SECOND);
    return requests.length < PER_SECOND ? 0 : Math.min(...requests.map(({ at }) => at)) + SECOND - now;
  }

  return {
    /** A slot for a turn that starts now, or milliseconds to wait for one. */
    take(now: number): RequestSlot | number {
      const wait = breaker.wait(now) || requestWait(now);
      if (wait > 0) return wait;
      const first = { at: NEVER };
      requests.push(first);
      breaker.begin();
      return {
        countRequest(at) {
          if (first.at === NEVER) first.at = at;
          else requests.push({ at });
        },
        release() {
          if (first.at === NEVER) requests = requests.filter((request) => request !== first);
          breaker.end();
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
    guilds,
    state: (now: number) => ({ ...breaker.state(now), pausedGuilds: guilds.paused(now) }),
  };
}

function createRefusals() {
  let times: number[] = [];
  return {
    add: (now: number): void => void times.push(now),
    count(now: number): number {
      times = times.filter((at) => at > now - WINDOW_MS);
      return times.length;
    },
    first: (): number => times[0]!,
    last: (): number => times.at(-1)!,
  };
}

/** Pauses all sending after faults that concern every channel; then one request at a time probes whether they are over. */
function createBreaker() {
  const refusals = createRefusals();
  let fault: 'token' | 'breaker' | null = null;
  let until = 0;
  let pausesInARow = 0;
  let inFlight = 0;

  const hasTooMany = (now: number): boolean => refusals.count(now) >= MAX_REFUSALS;
  const pauseMs = (now: number): number =>
    Math.max(0, until - now, hasTooMany(now) ? refusals.first() + WINDOW_MS - now : 0);

  function open(cause: typeof fault, now: number, retryAfterMs = 0): void {
    // Requests that were in flight when the breaker opened report the same fault; they must not lengthen the pause.
    if (until <= now) until = now + backOff(pausesInARow++, BACK_OFF);
    until = Math.max(until, now + retryAfterMs);
    fault = cause;
  }

  /** Discord itself responded. */
  function close(now: number): void {
    if (until > now) return;
    fault = null;
    pausesInARow = 0;
  }

  return {
    /** Milliseconds; infinite until the probe in flight has ended. */
    wait: (now: number): number => pauseMs(now) || (fault !== null && inFlight > 0 ? NEVER : 0),
    begin: (): void => void inFlight++,
    end: (): void => void inFlight--,
    record(outcome: SendOutcome, now: number): void {
      const { status } = outcome;
      if (status === 'unconfirmed') return;
      if (status !== 'sent' && status !== 'gone' && status !== 'refused') refusals.add(now);
      if (status === 'breaker') open('breaker', now, outcome.retryAfterMs);
      else if (status === 'unauthorized') open('token', now);
      else if (status === 'rate-limited' && outcome.global) until = Math.max(until, now + outcome.retryAfterMs);
      else close(now);
    },
    state: (now: number) => ({
      authorized: fault !== 'token',
      breaker: fault === 'breaker' || hasTooMany(now),
      invalidRequests: refusals.count(now),
    }),
    pause: (now: number): Pick<SendingPause, 'reason' | 'until'> | null =>
      pauseMs(now) === 0 ? null : { reason: fault ?? 'rate', until: now + pauseMs(now) },
  };
}

/** One guild must not use up the process's own limit of refusals. */
function createGuildLimits() {
  const guilds = new Map<string, { inFlight: number; refusals: ReturnType<typeof createRefusals> }>();

  function limitOf(guildId: string) {
    const limit = guilds.get(guildId) ?? { inFlight: 0, refusals: createRefusals() };
    guilds.set(guildId, limit);
    return limit;
  }

  /** null: the guild's channels do not wait for one another. */
  function pause(guildId: string, now: number): { probeAt: number; refusals: number } | null {
    const { refusals } = limitOf(guildId);
    const refused = refusals.count(now);
    if (refused < MAX_REFUSALS_OF_GUILD) return null;
    const probeAt = refusals.last() + GUILD_PROBE_MS;
    return probeAt > now ? { probeAt, refusals: refused } : null;
  }

  return {
    /** Milliseconds; infinite until a request in flight has ended. */
    wait(guildId: string, now: number): number {
      const { inFlight, refusals } = limitOf(guildId);
      const refused = refusals.count(now);
      const max = refused < MAX_REFUSALS_OF_GUILD ? MAX_IN_FLIGHT_OF_GUILD - refused : 1;
      if (inFlight >= max) return NEVER;
      return (pause(guildId, now)?.probeAt ?? now) - now;
    },
    begin: (guildId: string): void => void limitOf(guildId).inFlight++,
    end(guildId: string, now: number): void {
      const limit = limitOf(guildId);
      limit.inFlight--;
      if (limit.inFlight === 0 && limit.refusals.count(now) === 0) guilds.delete(guildId);
    },
    recordRefusal: (guildId: string, now: number): void => limitOf(guildId).refusals.add(now),
    pause,
    paused: (now: number): number => [...guilds.keys()].filter((guildId) => pause(guildId, now) !== null).length,
  };
}
