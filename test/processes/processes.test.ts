import { expect, it } from 'vitest';
import { isPostgresMissing } from '../store/postgres/server.ts';
import { trial } from './trial.ts';

it.skipIf(isPostgresMissing())(
  'loses, doubles and disorders nothing when processes and Postgres fail',
  async () => {
    const faults = ['killWorker', 'sleep', 'postgres', 'roll'] as const;
    const { acknowledged, shown, lost, doubled, disordered, problems, idleMs, refusedMs } = await trial(faults, {
      everyMs: 1_000,
      pulseMs: 20,
    });
    expect({ shown, lost, doubled, disordered, problems }).toEqual({
      shown: acknowledged,
      lost: 0,
      doubled: 0,
      disordered: 0,
      problems: [],
    });
    expect(acknowledged).toBeGreaterThan(50);
    expect(Math.max(...Object.values(idleMs))).toBeLessThan(10_000);
    // The sender's first retry comes after 15 s.
    expect(refusedMs.roll).toBeLessThan(15_000);
  },
  600_000,
);
