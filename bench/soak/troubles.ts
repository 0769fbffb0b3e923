import type { Discord, Fault } from '../../sandbox/discord/index.ts';
import { SECOND } from '../../src/domain/clock.ts';
import type { Watched } from '../../test/crash/watched.ts';
import { lock as lockFile } from '../../test/store/sqlite/database-file.ts';

/** A period with a fault; milliseconds since the start. */
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
  begin(cycle: number, forMs: number): void;
}

/** The parts that faults break. */
interface World {
  discord: Discord;
  /** The bot's database. */
  file: string;
  watched: readonly Watched[];
  cycleMs: number;
  cycles: number;
}

/** At most; in short runs a smaller part of the cycle. */
const MAX_LOCK_MS = SECOND;
const MESSAGES = { method: 'POST', path: '/channels/:channel/messages' };

/** Whether there was no fault at this time and shortly before; milliseconds since the start. */
export const isCalm = (at: number, cycleMs: number): boolean => (at % cycleMs) / cycleMs >= 0.86;

/**
 * The faults, the same in each cycle, so that cycles are comparable. Discord is down for one of a cycle's six minutes.
 */
function plans({ discord, file, watched, cycleMs }: World): Plan[] {
  const fault = (at: number, ...faults: [times: number, Fault][]): Plan => ({
    kind: 'fault',
    at,
    begin() {
      for (const [times, one] of faults) discord.fault({ ...MESSAGES, fault: one, times });
    },
  });
  const lock = (at: number): Plan => ({
    kind: 'lock',
    at,
    lasts: Math.min(MAX_LOCK_MS / cycleMs, 0.02),
    begin(_, forMs) {
      try {
        setTimeout(lockFile(file, MAX_LOCK_MS), forMs);
      } catch {
        // The bot itself holds it for as long.
      }
    },
  });
  return [
    {
      kind: 'away',
      at: 0.04,
      lasts: 1 / 6,
      begin: (_, forMs) => void discord.fault({ fault: { kind: 'away' }, forMs }),
    },
    {
      kind: 'forbidden',
      at: 0.4,
      lasts: 0.1,
      begin(cycle, forMs) {
        const { channelId } = watched[(cycle * 7) % watched.length]!;
        discord.act({ do: 'channel.forbid', channelId, permissions: ['SendMessages'] });
        setTimeout(() => discord.act({ do: 'channel.allow', channelId }), forMs);
      },
    },
    fault(0.52, [2, { kind: 'hang' }], [1, { kind: 'hang', done: true }]),
    fault(0.58, [3, { kind: 'error', status: 500 }], [3, { kind: 'error', status: 503 }]),
    fault(0.61, [3, { kind: 'rate-limit', retryAfterMs: 2_000 }]),
    fault(0.64, [1, { kind: 'rate-limit', retryAfterMs: 3_000, global: true }]),
    fault(0.68, [3, { kind: 'reset' }]),
    fault(0.7, [3, { kind: 'lost' }], [3, { kind: 'cut' }]),
    fault(0.73, [10, { kind: 'delay', ms: 2_000 }]),
    { kind: 'fault', at: 0.75, begin: () => void discord.act({ do: 'gateway.drop' }) },
    lock(0.77),
    lock(0.81),
  ];
}

/** Causes the planned faults in each cycle; the list fills with the actual periods. */
export function startTroubles(world: World): Trouble[] {
  const { cycleMs, cycles } = world;
  const troubles: Trouble[] = [];
  for (const { kind, at, lasts = 0, begin } of plans(world)) {
    for (let cycle = 0; cycle < cycles; cycle++) {
      const from = (cycle + at) * cycleMs;
      const forMs = lasts * cycleMs;
      setTimeout(() => {
        begin(cycle, forMs);
        troubles.push({ kind, from, until: from + forMs });
      }, from);
    }
  }
  return troubles;
}
