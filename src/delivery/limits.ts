import { backOff, type Clock, MINUTE, SECOND } from '../domain/clock.ts';
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
  countRequest(): void;
  release(): void;
}

/** Limits of the whole process and of each guild. Times are elapsed milliseconds. */
export function createLimits({ elapsed }: Pick<Clock, 'elapsed'>) {
  const breaker = createBreaker();
  /** When the requests of the last second began. */
  const requests: number[] = [];
  /** Turns that are about to make their first request. */
  let reserved = 0;
  let inFlight = 0;
  /** Only guilds with requests in flight or refusals: one must not use up the process's own limit of refusals. */
  const guilds = new Map<string, { inFlight: number; refusals: number[] }>();

  function guildOf(guildId: string) {
    const guild = guilds.get(guildId) ?? { inFlight: 0, refusals: [] };
    guilds.set(guildId, guild);
    return guild;
  }

  /** null: the guild's channels do not wait for one another. */
  function guildPause(guildId: string): { probeAt: number; refusals: number } | null {
    const now = elapsed();
    const refusals = inWindow(guilds.get(guildId)?.refusals ?? [], now);
    if (refusals.length < MAX_REFUSALS_OF_GUILD) return null;
    const probeAt = refusals.at(-1)! + GUILD_PROBE_MS;
    return probeAt > now ? { probeAt, refusals: refusals.length } : null;
  }

  return {
    /** A slot for a turn of the guild that starts now, or milliseconds to wait for one. */
    take(guildId: string): RequestSlot | number {
      const now = elapsed();
      while (requests.length > 0 && requests[0]! <= now - SECOND) requests.shift();
      const isFull = requests.length + reserved >= PER_SECOND;
      const wait = breaker.wait(now, inFlight) || (isFull ? (requests[0] ?? NEVER) + SECOND - now : 0);
      if (wait > 0) return wait;
      const guild = guildOf(guildId);
      let isReserved = true;
      reserved++;
      inFlight++;
      guild.inFlight++;
      return {
        countRequest() {
          if (isReserved) reserved--;
          isReserved = false;
          requests.push(elapsed());
        },
        release() {
          if (isReserved) reserved--;
          inFlight--;
          guild.inFlight--;
          guild.refusals = inWindow(guild.refusals, elapsed());
          if (guild.inFlight === 0 && guild.refusals.length === 0) guilds.delete(guildId);
        },
      };
    },
    record(outcome: SendOutcome, guildId: string): void {
      if (outcome.status === 'rate-limited' && outcome.local) return;
      const now = elapsed();
      breaker.record(outcome, now);
      if (outcome.status === 'forbidden' || (outcome.status === 'rate-limited' && !outcome.global))
        guildOf(guildId).refusals.push(now);
    },
    /** Milliseconds; infinite until a request in flight has ended. */
    guildWait(guildId: string): number {
      const guild = guilds.get(guildId);
      if (!guild) return 0;
      const now = elapsed();
      const refused = inWindow(guild.refusals, now).length;
      const max = refused < MAX_REFUSALS_OF_GUILD ? MAX_IN_FLIGHT_OF_GUILD - refused : 1;
      return guild.inFlight >= max ? NEVER : (guildPause(guildId)?.probeAt ?? now) - now;
    },
    guildPause,
    pause: () => breaker.pause(elapsed()),
    state: () => ({
      ...breaker.state(elapsed()),
      pausedGuilds: [...guilds.keys()].filter((guildId) => guildPause(guildId) !== null).length,
    }),
  };
}

const inWindow = (refusals: readonly number[], now: number): number[] => refusals.filter((at) => at > now - WINDOW_MS);

/** Pauses all sending after faults that concern every channel; then one request at a time probes whether they are over. */
function createBreaker() {
  let refusals: number[] = [];
  let fault: 'token' | 'breaker' | null = null;
  let until = 0;
  let pausesInARow = 0;

  /** Milliseconds; infinite until the probe in flight has ended. */
  function wait(now: number, inFlight: number): number {
    refusals = inWindow(refusals, now);
    const tooManyMs = refusals.length >= MAX_REFUSALS ? refusals[0]! + WINDOW_MS - now : 0;
    return Math.max(0, until - now, tooManyMs) || (fault !== null && inFlight > 0 ? NEVER : 0);
  }

  function open(cause: typeof fault, now: number, retryAfterMs = 0): void {
    // Requests that were in flight when the breaker opened report the same fault; they must not lengthen the pause.
    if (until <= now) until = now + backOff(pausesInARow++, BACK_OFF);
    until = Math.max(until, now + retryAfterMs);
    fault = cause;
  }

  return {
    wait,
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
    pause(now: number): Pick<SendingPause, 'reason' | 'until'> | null {
      const ms = wait(now, 0);
      return ms === 0 ? null : { reason: fault ?? 'rate', until: now + ms };
    },
  };
}
