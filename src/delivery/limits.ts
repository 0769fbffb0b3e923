import { backOff, MINUTE, SECOND } from '../domain/clock.ts';
import type { SendingPause, SendOutcome } from '../domain/sender.ts';

/** Requests that begin in any second; Discord allows 50. */
const PER_SECOND = 40;
const MAX_IN_FLIGHT = 40;
/** Of them, of one guild, so that others always have room. */
const MAX_OF_GUILD = 20;
/** Requests refused within ten minutes at which all sending pauses; Discord bans at 10,000. */
const MAX_REFUSALS = 500;
/** The same at which all of a guild's channels pause together. */
const MAX_REFUSALS_OF_GUILD = 10;
const WINDOW_MS = 10 * MINUTE;
/** Of the breaker, and of a guild's probes. */
const BACK_OFF = { base: MINUTE, max: 15 * MINUTE };
/** Probes of a guild before the pauses grow: until then, each may find a channel that works. */
const EVEN_PROBES = 10;
/** Time between two probes after changes of permissions: within the limit of refusals, and beyond it. */
const CHANGE_SPACING_MS = { within: 5 * SECOND, beyond: MINUTE };
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
  const breaker = createBreaker();
  const guilds = createGuildLimits();
  /** When each request of the last second began. */
  let begun: number[] = [];
  let inFlight = 0;
  /** Slots that have not begun a request. */
  let reserved = 0;

  function requestWait(now: number): number {
    begun = begun.filter((at) => at > now - SECOND);
    if (inFlight >= MAX_IN_FLIGHT) return NEVER;
    return begun.length + reserved < PER_SECOND ? 0 : begun[0]! + SECOND - now;
  }

  return {
    /** A slot for a request that starts now, or how many milliseconds to wait for one. */
    take(now: number): RequestSlot | number {
      const wait = breaker.wait(now) || requestWait(now);
      if (wait > 0) return wait;
      let [hasBegun, isReleased] = [false, false];
      breaker.begin();
      inFlight++;
      reserved++;
      return {
        countRequest(at) {
          begun.push(at);
          if (!hasBegun) reserved--;
          hasBegun = true;
        },
        release() {
          if (isReleased) return;
          isReleased = true;
          inFlight--;
          if (!hasBegun) reserved--;
          breaker.end();
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

/** The library knew the limit and sent no request. */
const isLocal = (outcome: SendOutcome): boolean => outcome.status === 'rate-limited' && outcome.local;

/** Requests that Discord refused within ten minutes. */
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
          if (left(now) === 0) until = now + backOff(pauses++, BACK_OFF);
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

interface GuildLimit {
  inFlight: number;
  refusals: ReturnType<typeof createRefusals>;
  /** Set while all of its channels pause together. */
  pause: { since: number; probeAt: number; probes: number } | null;
  /** No probe after a change of permissions before. */
  changeProbeFrom: number;
}

/** Limits how many of its requests each guild may have refused: one guild must not use up the process's own limit. */
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
    /** Milliseconds until the guild's next request may start; 0: now. Infinite until a request in flight has ended. */
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
    /** Counts a refused request; after too many, all of the guild's channels pause. */
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
    /** Ends a guild's pause: Discord accepted a message there. Returns whether there was one. */
    release(guildId: string): boolean {
      const limit = limits.get(guildId);
      if (!limit?.pause) return false;
      limit.pause = null;
      return true;
    },
    /** When a channel may be probed because permissions or channels of the guild changed: soon after the last such probe. */
    changeProbeAt: (guildId: string, now: number): number => Math.max(now, limits.get(guildId)?.changeProbeFrom ?? 0),
    /** Records that a channel is probed at that time because of such a change. */
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
