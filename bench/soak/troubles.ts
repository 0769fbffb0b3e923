import Database from 'better-sqlite3';
import type { Discord, FaultRule } from '../../sandbox/discord/index.ts';
import type { Watched } from '../../test/crash/watched.ts';

/** A time in which something is broken; milliseconds since the start. */
export interface Trouble {
  kind: 'away' | 'forbidden' | 'fault' | 'lock';
  from: number;
  until: number;
}

interface Plan {
  kind: Trouble['kind'];
  /** When it begins and how long it lasts, as shares of a cycle. */
  at: number;
  lasts?: number;
  /** Gives back how it ends, unless it does so by itself. */
  begin(cycle: number): (() => void) | undefined;
}

/** What is to be broken, and how often. */
interface World {
  discord: Discord;
  /** The bot's database. */
  file: string;
  watched: readonly Watched[];
  cycleMs: number;
  cycles: number;
}

/** At most; in short runs a smaller part of the cycle. */
const LOCK_MS = 1_000;
const MESSAGES = { method: 'POST', path: '/channels/:channel/messages' };

/** Whether nothing is broken at a time, nor has been for a while; milliseconds since the start. */
export const isCalm = (at: number, cycleMs: number): boolean => (at % cycleMs) / cycleMs >= 0.86;

/** What breaks, the same in each cycle, so that any two of them compare. Of a cycle of six minutes Discord is away for one. */
function plans({ discord, file, watched, cycleMs }: World): Plan[] {
  const fault = (at: number, ...rules: FaultRule[]): Plan => ({
    kind: 'fault',
    at,
    begin() {
      for (const rule of rules) discord.fault({ ...MESSAGES, ...rule });
      return undefined;
    },
  });
  const lock = (at: number): Plan => ({
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
  return [
    { kind: 'away', at: 0.04, lasts: 1 / 6, begin: () => discord.fault({ fault: { kind: 'away' } }).clear },
    {
      kind: 'forbidden',
      at: 0.4,
      lasts: 0.1,
      begin(cycle) {
        const { channelId } = watched[(cycle * 7) % watched.length]!;
        discord.act({ do: 'channel.forbid', channelId, permissions: ['SendMessages'] });
        return () => void discord.act({ do: 'channel.allow', channelId });
      },
    },
    fault(0.52, { fault: { kind: 'hang' }, times: 2 }, { fault: { kind: 'hang', done: true }, times: 1 }),
    fault(
      0.58,
      { fault: { kind: 'error', status: 500 }, times: 3 },
      { fault: { kind: 'error', status: 503 }, times: 3 },
    ),
    fault(0.61, { fault: { kind: 'rate-limit', retryAfterMs: 2_000 }, times: 3 }),
    fault(0.64, { fault: { kind: 'rate-limit', retryAfterMs: 3_000, global: true }, times: 1 }),
    fault(0.68, { fault: { kind: 'reset' }, times: 3 }),
    fault(0.7, { fault: { kind: 'lost' }, times: 3 }, { fault: { kind: 'cut' }, times: 3 }),
    fault(0.73, { fault: { kind: 'delay', ms: 2_000 }, times: 10 }),
    { kind: 'fault', at: 0.75, begin: () => void discord.act({ do: 'gateway.drop' }) },
    lock(0.77),
    lock(0.81),
  ];
}

/** Breaks things by the plan, cycle after cycle; `troubles` fills with what was broken when. */
export function startTroubles(world: World) {
  const { discord, cycleMs, cycles } = world;
  const troubles: Trouble[] = [];
  const timers: NodeJS.Timeout[] = [];
  const ends = new Set<() => void>();
  for (const { kind, at, lasts = 0, begin } of plans(world)) {
    for (let cycle = 0; cycle < cycles; cycle++) {
      const from = (cycle + at) * cycleMs;
      const onBegin = () => {
        const end = begin(cycle);
        troubles.push({ kind, from, until: from + lasts * cycleMs });
        if (!end) return;
        ends.add(end);
        timers.push(setTimeout(() => ends.delete(end) && end(), lasts * cycleMs));
      };
      timers.push(setTimeout(onBegin, from));
    }
  }
  return {
    troubles,
    close(): void {
      for (const timer of timers) clearTimeout(timer);
      for (const end of ends) end();
      discord.clearFaults();
    },
  };
}
