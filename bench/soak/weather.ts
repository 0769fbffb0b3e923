import Database from 'better-sqlite3';
import type { Discord, FaultRule } from '../../sandbox/discord/index.ts';
import type { Watched } from './body.ts';

/** A time in which something is broken; milliseconds since the start. */
export interface Spell {
  name: string;
  kind: 'outage' | 'forbidden' | 'lock' | 'fault';
  from: number;
  until: number;
}

interface Plan {
  name: string;
  kind: Spell['kind'];
  /** When it begins and how long it lasts, as shares of a cycle. */
  at: number;
  lasts: number;
  begin(cycle: number): () => void;
}

/** At most; in short runs a smaller part of the cycle. */
const LOCK_MS = 1_000;
/** The part of each cycle in which nothing is broken, nor has been for a while. */
const CALM = { from: 0.86, until: 1 };

/**
 * What breaks, the same in each cycle, so that any two of them compare. In a cycle of six minutes Discord is away for one.
 */
function plans(discord: Discord, file: string, watched: readonly Watched[], cycleMs: number): Plan[] {
  const posts = { method: 'POST', path: '/channels/:channel/messages' };
  const spell = (name: string, at: number, ...rules: FaultRule[]): Plan => ({
    name,
    kind: 'fault',
    at,
    lasts: 0,
    begin() {
      for (const rule of rules) discord.fault({ ...posts, ...rule });
      return () => undefined;
    },
  });
  const lock = (at: number): Plan => ({
    name: 'database locked',
    kind: 'lock',
    at,
    lasts: Math.min(LOCK_MS / cycleMs, 0.02),
    begin() {
      const db = new Database(file, { timeout: LOCK_MS });
      try {
        db.exec('BEGIN IMMEDIATE');
      } catch {
        // The bot itself holds it for as long.
      }
      // Closing gives the lock back.
      return () => void db.close();
    },
  });
  const forMs = cycleMs / 6;
  return [
    {
      name: 'Discord is away',
      kind: 'outage',
      at: 0.04,
      lasts: 1 / 6,
      begin() {
        const { clear } = discord.fault({ fault: { kind: 'away' }, forMs });
        return clear;
      },
    },
    {
      name: 'a channel is forbidden',
      kind: 'forbidden',
      at: 0.4,
      lasts: 0.1,
      begin(cycle) {
        const { channelId } = watched[(cycle * 7) % watched.length]!;
        discord.act({ do: 'channel.forbid', channelId, permissions: ['SendMessages'] });
        return () => void discord.act({ do: 'channel.allow', channelId });
      },
    },
    spell(
      'never an answer',
      0.52,
      { fault: { kind: 'hang' }, times: 2 },
      { fault: { kind: 'hang', done: true }, times: 1 },
    ),
    spell(
      'errors 500 and 503',
      0.58,
      { fault: { kind: 'error', status: 500 }, times: 3 },
      { fault: { kind: 'error', status: 503 }, times: 3 },
    ),
    spell('429 for a channel', 0.61, { fault: { kind: 'rate-limit', retryAfterMs: 2_000 }, times: 3 }),
    spell('429 for everything', 0.64, { fault: { kind: 'rate-limit', retryAfterMs: 3_000, global: true }, times: 1 }),
    spell('connections broken before', 0.68, { fault: { kind: 'reset' }, times: 3 }),
    spell('connections broken after', 0.7, { fault: { kind: 'lost' }, times: 3 }, { fault: { kind: 'cut' }, times: 3 }),
    spell('slow answers', 0.73, { fault: { kind: 'delay', ms: 2_000 }, times: 10 }),
    {
      name: 'gateway dropped',
      kind: 'fault',
      at: 0.75,
      lasts: 0,
      begin() {
        discord.act({ do: 'gateway.drop' });
        return () => undefined;
      },
    },
    lock(0.77),
    lock(0.81),
  ];
}

/** Breaks things by the plan, cycle after cycle; `spells` tells what was broken when. */
export function startWeather(parts: {
  discord: Discord;
  file: string;
  watched: readonly Watched[];
  cycleMs: number;
  cycles: number;
  onSpell(spell: Spell): void;
}) {
  const { discord, cycleMs, cycles, onSpell } = parts;
  const timers: NodeJS.Timeout[] = [];
  const open = new Set<() => void>();
  const end = (close: () => void) => {
    if (open.delete(close)) close();
  };
  for (const plan of plans(discord, parts.file, parts.watched, cycleMs)) {
    for (let cycle = 0; cycle < cycles; cycle++) {
      const from = (cycle + plan.at) * cycleMs;
      const until = from + plan.lasts * cycleMs;
      const begin = () => {
        const close = plan.begin(cycle);
        open.add(close);
        timers.push(setTimeout(() => end(close), until - from));
        onSpell({ name: plan.name, kind: plan.kind, from, until });
      };
      timers.push(setTimeout(begin, from));
    }
  }
  return {
    /** Whether nothing is broken at a time, nor has been for a while. */
    isCalm(atMs: number): boolean {
      const share = (atMs % cycleMs) / cycleMs;
      return share >= CALM.from && share < CALM.until;
    },
    close(): void {
      for (const timer of timers) clearTimeout(timer);
      for (const close of open) end(close);
      discord.clearFaults();
    },
  };
}
