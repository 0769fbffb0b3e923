import { backOff } from '../domain/back-off.ts';
import { MINUTE, SECOND } from '../domain/clock.ts';
import type { GuildHold } from '../domain/sending-pause.ts';

/** Refusals within the window at which all of a guild's channels wait together. */
const MAX_REFUSALS = 10;
const WINDOW_MS = 10 * MINUTE;
/** The pauses before a probe. */
const PROBE_BACK_OFF = { base: MINUTE, max: 15 * MINUTE };
/** Probes before the pauses grow: until then, each may find a channel that works. */
const EVEN_PROBES = 10;
/** Maximum number of a guild's requests in flight: half of all, so that others always have room. */
const MAX_IN_FLIGHT = 20;
/** Time between two probes after changes of permissions: within the budget, and beyond it. */
const CHANGE_SPACING_MS = { within: 5 * SECOND, beyond: MINUTE };
const NEVER = Number.POSITIVE_INFINITY;

interface Budget {
  inFlight: number;
  /** Refusals within the window, oldest first. */
  refusedAt: number[];
  /** Set while all of its channels wait: since when, the next probe, and how many were refused. */
  held: { since: number; probeAt: number; probes: number } | null;
  /** No probe after a change before. */
  changeProbeFrom: number;
}

/** The refusal budgets of all guilds. */
export type GuildBudgets = ReturnType<typeof createGuildBudgets>;

/** Budgets how many of its requests each guild may have refused: one guild must not use up the process's own limit. */
export function createGuildBudgets() {
  const budgets = new Map<string, Budget>();

  function of(guildId: string): Budget {
    const known = budgets.get(guildId);
    if (known) return known;
    const budget: Budget = { inFlight: 0, refusedAt: [], held: null, changeProbeFrom: 0 };
    budgets.set(guildId, budget);
    return budget;
  }

  /** Refusals that still count. */
  function refusals(budget: Budget, now: number): number {
    while (budget.refusedAt.length > 0 && budget.refusedAt[0]! <= now - WINDOW_MS) budget.refusedAt.shift();
    return budget.refusedAt.length;
  }

  function forgetIfIdle(guildId: string, budget: Budget, now: number): void {
    const isIdle = budget.inFlight === 0 && budget.held === null && refusals(budget, now) === 0;
    if (isIdle && budget.changeProbeFrom <= now) budgets.delete(guildId);
  }

  return {
    /** Milliseconds until the guild's next request may start; 0: now. Infinite until a request in flight has ended. */
    wait(guildId: string | null, now: number): number {
      const budget = guildId === null ? undefined : budgets.get(guildId);
      if (!budget) return 0;
      if (budget.held) return budget.inFlight > 0 ? NEVER : Math.max(0, budget.held.probeAt - now);
      // Each request in flight may be refused: together they must not exceed what is left.
      const refused = refusals(budget, now);
      const max = refused === 0 ? MAX_IN_FLIGHT : Math.max(1, MAX_REFUSALS - refused);
      return budget.inFlight < max ? 0 : NEVER;
    },
    /** Records that one of the guild's channels got a slot. */
    beginSlot(guildId: string): void {
      of(guildId).inFlight++;
    },
    /** Records that its slot is over. */
    endSlot(guildId: string, now: number): void {
      const budget = of(guildId);
      budget.inFlight = Math.max(0, budget.inFlight - 1);
      forgetIfIdle(guildId, budget, now);
    },
    /** Counts a request that Discord refused; after too many, all of the guild's channels wait. */
    recordRefusal(guildId: string, now: number): void {
      const budget = of(guildId);
      const { held } = budget;
      budget.refusedAt.push(now);
      if (refusals(budget, now) < MAX_REFUSALS && !held) return;
      // Requests that were in flight when the guild's channels began to wait must not lengthen the pause.
      if (held && now < held.probeAt) return;
      const probes = held ? held.probes + 1 : 0;
      const pauseMs = backOff(Math.max(0, probes - EVEN_PROBES), PROBE_BACK_OFF);
      budget.held = { since: held?.since ?? now, probeAt: now + pauseMs, probes };
    },
    /** Lets the guild's channels continue: Discord accepted a message of one. */
    release(guildId: string): void {
      const budget = budgets.get(guildId);
      if (budget) budget.held = null;
    },
    /** Whether all of the guild's channels wait together. */
    isHeld: (guildId: string): boolean => Boolean(budgets.get(guildId)?.held),
    /** When a channel may be probed because permissions or channels of the guild changed: soon after the last such probe. */
    changeProbeAt: (guildId: string, now: number): number => Math.max(now, budgets.get(guildId)?.changeProbeFrom ?? 0),
    /** Records that a channel is probed at that time because of such a change. */
    recordChangeProbe(guildId: string, probeAt: number, now: number): void {
      const budget = of(guildId);
      const isWithin = budget.held === null && refusals(budget, now) < MAX_REFUSALS;
      budget.changeProbeFrom = probeAt + (isWithin ? CHANGE_SPACING_MS.within : CHANGE_SPACING_MS.beyond);
      if (budget.held) budget.held.probeAt = Math.min(budget.held.probeAt, probeAt);
    },
    /** The state of a guild whose channels wait together; null: they do not wait. */
    hold(guildId: string, now: number): GuildHold | null {
      const budget = budgets.get(guildId);
      if (!budget?.held) return null;
      const { since, probeAt } = budget.held;
      return { since, probeAt: Math.max(now, probeAt), refusals: refusals(budget, now) };
    },
    /** Guilds whose channels wait together. */
    heldGuilds: (): number => [...budgets.values()].filter(({ held }) => held !== null).length,
    setBack(ms: number): void {
      for (const budget of budgets.values()) {
        budget.refusedAt = budget.refusedAt.map((at) => at - ms);
        budget.changeProbeFrom -= ms;
        if (budget.held) {
          budget.held.since -= ms;
          budget.held.probeAt -= ms;
        }
      }
    },
  };
}
