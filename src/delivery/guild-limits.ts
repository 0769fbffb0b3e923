import { backOff, MINUTE, SECOND } from '../domain/clock.ts';

/** Requests of one guild in flight, so that others always have room. */
const MAX_IN_FLIGHT = 20;
/** Requests refused within ten minutes at which all of a guild's channels pause together. */
const MAX_REFUSALS = 10;
const PROBE_BACK_OFF = { base: MINUTE, max: 15 * MINUTE };
/** Probes before the pauses grow: until then, each may find a channel that works. */
const EVEN_PROBES = 10;
/** Time between two probes after changes of permissions: within the limit of refusals, and beyond it. */
const CHANGE_SPACING_MS = { within: 5 * SECOND, beyond: MINUTE };
const WINDOW_MS = 10 * MINUTE;
const NEVER = Number.POSITIVE_INFINITY;

/** Requests that Discord refused within ten minutes. */
export function createRefusals() {
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

interface GuildLimit {
  inFlight: number;
  refusals: ReturnType<typeof createRefusals>;
  /** Set while all of its channels pause together. */
  pause: { since: number; probeAt: number; probes: number } | null;
  /** No probe after a change of permissions before. */
  changeProbeFrom: number;
}

/** Limits how many of its requests each guild may have refused: one guild must not use up the process's own limit. */
export function createGuildLimits() {
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
      const max = refused === 0 ? MAX_IN_FLIGHT : Math.max(1, MAX_REFUSALS - refused);
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
      if (limit.refusals.add(now) < MAX_REFUSALS && !pause) return;
      // Requests that were in flight when the guild's channels paused must not lengthen the pause.
      if (pause && now < pause.probeAt) return;
      const probes = pause ? pause.probes + 1 : 0;
      const pauseMs = backOff(Math.max(0, probes - EVEN_PROBES), PROBE_BACK_OFF);
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
      const isWithin = limit.pause === null && limit.refusals.count(now) < MAX_REFUSALS;
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
