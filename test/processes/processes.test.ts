import { expect, it } from 'vitest';
import { isPostgresMissing } from '../store/postgres/server.ts';
import { trial } from './trial.ts';

it.skipIf(isPostgresMissing())(
  'loses, doubles and reorders nothing when processes and Postgres fail',
  async () => {
    const faults = ['killWorker', 'sleep', 'postgres', 'fullDisk', 'fullLog', 'roll'] as const;
    // `npm run test:processes` also checks how long it takes: here the machine may be busy.
    const { acknowledged, shown, lost, doubled, disordered, problems } = await trial(faults, {
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
  },
  600_000,
);
