import { backOff, MINUTE, SECOND } from '../domain/clock.ts';
import type { SendingPause, SendOutcome } from '../domain/sender.ts';

/** Requests that begin in any second; Discord allows 50. */
const PER_SECOND = 40;
const MAX_IN_FLIGHT = 40;
/** Less than all of them, so that other guilds always have room. */
const MAX_OF_GUILD = 20;
/** Refused requests in ten minutes at which all sending pauses; Discord bans at 10,000. */
const MAX_REFUSALS = 500;
/** The same at which all channels of one guild pause. */
const MAX_REFUSALS_OF_GUILD = 10;
const WINDOW_MS = 10 * MINUTE;
const BACK_OFF = { base: MINUTE, max: 15 * MINUTE };
/** Probes of a guild before the pauses grow: each may find a channel that works. */
const EVEN_PROBES = 10;
const CHANGE_SPACING_MS = { within: 5 * SECOND, beyond: MINUTE };
const UNAUTHORIZED_PAUSE_MS = 5 * MINUTE;
const NEVER = Number.POSITIVE_INFINITY;

export interface RequestSlot {
  countRequest(now: number): void;
  /** May be called again. */
  release(): void;
}

/** Limits of the whole process and of each guild. Time is elapsed milliseconds, and always an argument. */
export function createLimits() {
  const breaker = createBreaker();
  const guilds = createGuildLimits();
  /** When each request of the last second began. */
  let begun: number[] = [];
  let inFlight = 0;
  let reservedSlots = 0;

  function requestWait(now: number): number {
    begun = begun.filter((at) => at > now - SECOND);
    if (inFlight >= MAX_IN_FLIGHT) return NEVER;
    return begun.length + reservedSlots < PER_SECOND ? 0 : begun[0]! + SECOND - now;
  }

  return {
    /** A slot for a request that starts now, or milliseconds to wait for one. */
    take(now: number): RequestSlot | number {
      const wait = breaker.wait(now) || requestWait(now);
      if (wait > 0) return wait;
      let [hasBegun, isReleased] = [false, false];
      breaker.begin();
      inFlight++;
      reservedSlots++;
      return {
        countRequest(at) {
          begun.push(at);
          if (!hasBegun) reservedSlots--;
          hasBegun = true;
        },
        release() {
          if (isReleased) return;
          isReleased = true;
          inFlight--;
          if (!hasBegun) reservedSlots--;
          breaker.end();
        },
      };
    },
    record(outcome: SendOutcome, guildId: string | null, now: number): void {
      breaker.record(outcome, now);
      const isRefusal = outcome.status === 'forbidden' || (outcome.status === 'rate-limited' && !outcome.global);
      if (isRefusal && !isLocal(outcome) && guildId !== null) guilds.recordRefusal(guildId, now);
    },
    recordTokenCheck: breaker.recordTokenCheck,
    pause: breaker.pause,
    guilds,
    state: (now: number) => ({ ...breaker.state(now), pausedGuilds: guilds.paused() }),
  };
}

const isLocal = (outcome: SendOutcome): boolean => outcome.status === 'rate-limited' && outcome.local;

function createRefusals() {
  let times: number[] = [];
  const count = (now: number): number => {
    times = times.filter((at) => at > now - WINDOW_MS);
    return times.length;
  };
  return {
    count,
    add(now: number): number {
      times.push(now);
      return count(now);
    },
    firstEnd: (): number => times[0]! + WINDOW_MS,
  };
}

/** Pauses all sending after faults that concern every channel; then one request probes whether they are over. */
function createBreaker() {
  const refusals = createRefusals();
  let until = 0;
  let pausesInARow = 0;
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
    pausesInARow = 0;
  }

  return {
    wait: (now: number): number => left(now) || (needsProbe() && isProbing ? SECOND : 0),
    begin(): void {
      if (needsProbe()) isProbing = true;
    },
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
          if (left(now) === 0) until = now + backOff(pausesInARow++, BACK_OFF);
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
    /** The next request shows whether an accepted token is accepted for sending, too. */
    recordTokenCheck(isAccepted: boolean, now: number): void {
      if (!isAccepted) isAuthorized = false;
      else if (left(now) === 0) isAuthorized = true;
    },
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

interface GuildLimit {
  inFlight: number;
  refusals: ReturnType<typeof createRefusals>;
  pause: { since: number; probeAt: number; probes: number } | null;
  /** Until then, changed permissions cause no probe. */
  changeProbeFrom: number;
}

/** One guild must not use up the process's own limit of refusals. */
function createGuildLimits() {
  const limits = new Map<string, GuildLimit>();

  function limitOf(guildId: string): GuildLimit {
    const known = limits.get(guildId);
    if (known) return known;
    const limit: GuildLimit = { inFlight: 0, refusals: createRefusals(), pause: null, changeProbeFrom: 0 };
    limits.set(guildId, limit);
    return limit;
  }

  return {
    /** Milliseconds; infinite until a request in flight has ended. */
    wait(guildId: string | null, now: number): number {
      const limit = guildId === null ? undefined : limits.get(guildId);
      if (!limit) return 0;
      const { pause, inFlight } = limit;
      if (pause) return inFlight > 0 ? NEVER : Math.max(0, pause.probeAt - now);
      // Each request in flight may be refused: together they must not exceed what is left.
      const refused = limit.refusals.count(now);
      const max = refused === 0 ? MAX_OF_GUILD : Math.max(1, MAX_REFUSALS_OF_GUILD - refused);
      return inFlight < max ? 0 : NEVER;
    },
    begin(guildId: string): void {
      limitOf(guildId).inFlight++;
    },
    end(guildId: string, now: number): void {
      const limit = limitOf(guildId);
      limit.inFlight--;
      const isIdle = limit.inFlight === 0 && limit.pause === null && limit.refusals.count(now) === 0;
      if (isIdle && limit.changeProbeFrom <= now) limits.delete(guildId);
    },
    recordRefusal(guildId: string, now: number): void {
      const limit = limitOf(guildId);
      const { pause } = limit;
      if (limit.refusals.add(now) < MAX_REFUSALS_OF_GUILD && !pause) return;
      // Requests that were in flight when the guild's channels paused must not lengthen the pause.
      if (pause && now < pause.probeAt) return;
      const probes = pause ? pause.probes + 1 : 0;
      const pauseMs = backOff(Math.max(0, probes - EVEN_PROBES), BACK_OFF);
      limit.pause = { since: pause?.since ?? now, probeAt: now + pauseMs, probes };
    },
    /** Discord accepted a message there. Returns whether there was a pause. */
    release(guildId: string): boolean {
      const limit = limits.get(guildId);
      if (!limit?.pause) return false;
      limit.pause = null;
      return true;
    },
    /** Some time after the last such probe: one person's changes often come in series. */
    changeProbeAt: (guildId: string, now: number): number => Math.max(now, limits.get(guildId)?.changeProbeFrom ?? 0),
    recordChangeProbe(guildId: string, probeAt: number, now: number): void {
      const limit = limitOf(guildId);
      const isWithin = limit.pause === null && limit.refusals.count(now) < MAX_REFUSALS_OF_GUILD;
      limit.changeProbeFrom = probeAt + (isWithin ? CHANGE_SPACING_MS.within : CHANGE_SPACING_MS.beyond);
      if (limit.pause) limit.pause.probeAt = Math.min(limit.pause.probeAt, probeAt);
    },
    pause(guildId: string, now: number): { since: number; probeAt: number; refusals: number } | null {
      const limit = limits.get(guildId);
      if (!limit?.pause) return null;
      const { since, probeAt } = limit.pause;
      return { since, probeAt: Math.max(now, probeAt), refusals: limit.refusals.count(now) };
    },
    paused: (): number => [...limits.values()].filter(({ pause }) => pause !== null).length,
  };
}
