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
  /** When the requests of the last second began. */
  const requests: number[] = [];
  /** Turns that are about to make their first request. */
  let reserved = 0;
  let inFlight = 0;
  /** By guild: one must not use up the process's own limit of refusals. */
  const inFlightOf = new Map<string, number>();
  const refusalsOf = new Map<string, number[]>();
  /** Of the whole process. */
  let refusals: number[] = [];
  /** A fault that concerns every channel. After its pause one request at a time probes whether it is over. */
  let fault: 'token' | 'breaker' | null = null;
  let pausedUntil = 0;
  let pausesInARow = 0;

  /** Milliseconds until requests may be made; infinite until the probe in flight has ended. */
  function pauseMs(now: number, others: number): number {
    refusals = inWindow(refusals, now);
    const tooManyMs = refusals.length >= MAX_REFUSALS ? refusals[0]! + WINDOW_MS - now : 0;
    return Math.max(0, pausedUntil - now, tooManyMs) || (fault !== null && others > 0 ? NEVER : 0);
  }

  function pauseFor(cause: NonNullable<typeof fault>, now: number, retryAfterMs = 0): void {
    // Requests that were in flight when the pause began report the same fault; they must not lengthen it.
    if (pausedUntil <= now) pausedUntil = now + backOff(pausesInARow++, BACK_OFF);
    pausedUntil = Math.max(pausedUntil, now + retryAfterMs);
    fault = cause;
  }

  /** null: the guild's channels do not wait for one another. */
  function guildPause(guildId: string): { probeAt: number; refusals: number } | null {
    const now = elapsed();
    const refused = inWindow(refusalsOf.get(guildId) ?? [], now);
    if (refused.length < MAX_REFUSALS_OF_GUILD) return null;
    const probeAt = refused.at(-1)! + GUILD_PROBE_MS;
    return probeAt > now ? { probeAt, refusals: refused.length } : null;
  }

  return {
    /** A slot for a turn of the guild that starts now, or milliseconds to wait for one. */
    take(guildId: string): RequestSlot | number {
      const now = elapsed();
      while (requests.length > 0 && requests[0]! <= now - SECOND) requests.shift();
      const isFull = requests.length + reserved >= PER_SECOND;
      const wait = pauseMs(now, inFlight) || (isFull ? (requests[0] ?? NEVER) + SECOND - now : 0);
      if (wait > 0) return wait;
      let isReserved = true;
      reserved++;
      inFlight++;
      inFlightOf.set(guildId, (inFlightOf.get(guildId) ?? 0) + 1);
      return {
        countRequest() {
          if (isReserved) reserved--;
          isReserved = false;
          requests.push(elapsed());
        },
        release() {
          if (isReserved) reserved--;
          inFlight--;
          const others = inFlightOf.get(guildId)! - 1;
          if (others > 0) inFlightOf.set(guildId, others);
          else inFlightOf.delete(guildId);
          if (inWindow(refusalsOf.get(guildId) ?? [], elapsed()).length === 0) refusalsOf.delete(guildId);
        },
      };
    },
    record(outcome: SendOutcome, guildId: string): void {
      const { status } = outcome;
      if (status === 'unconfirmed' || (status === 'rate-limited' && outcome.local)) return;
      const now = elapsed();
      if (status !== 'sent' && status !== 'gone' && status !== 'refused') refusals.push(now);
      if (status === 'breaker') pauseFor('breaker', now, outcome.retryAfterMs);
      else if (status === 'unauthorized') pauseFor('token', now);
      else if (status === 'rate-limited' && outcome.global)
        pausedUntil = Math.max(pausedUntil, now + outcome.retryAfterMs);
      else if (pausedUntil <= now) {
        // Discord itself responded.
        fault = null;
        pausesInARow = 0;
      }
      if (status === 'forbidden' || (status === 'rate-limited' && !outcome.global))
        refusalsOf.set(guildId, [...inWindow(refusalsOf.get(guildId) ?? [], now), now]);
    },
    /** Milliseconds; infinite until a request in flight has ended. */
    guildWait(guildId: string): number {
      const now = elapsed();
      const refused = inWindow(refusalsOf.get(guildId) ?? [], now).length;
      const max = refused < MAX_REFUSALS_OF_GUILD ? MAX_IN_FLIGHT_OF_GUILD - refused : 1;
      if ((inFlightOf.get(guildId) ?? 0) >= max) return NEVER;
      return refused < MAX_REFUSALS_OF_GUILD ? 0 : (guildPause(guildId)?.probeAt ?? now) - now;
    },
    guildPause,
    pause(): Pick<SendingPause, 'reason' | 'until'> | null {
      const now = elapsed();
      const ms = pauseMs(now, 0);
      return ms === 0 ? null : { reason: fault ?? 'rate', until: now + ms };
    },
    state() {
      refusals = inWindow(refusals, elapsed());
      return {
        authorized: fault !== 'token',
        breaker: fault === 'breaker' || refusals.length >= MAX_REFUSALS,
        invalidRequests: refusals.length,
        pausedGuilds: [...refusalsOf.keys()].filter((guildId) => guildPause(guildId) !== null).length,
      };
    },
  };
}

const inWindow = (refusals: readonly number[], now: number): number[] => refusals.filter((at) => at > now - WINDOW_MS);
