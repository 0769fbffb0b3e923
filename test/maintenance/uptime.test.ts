import { pino } from 'pino';
import { expect, it } from 'vitest';
import { DAY, HOUR, type Pause } from '../../src/domain/clock.ts';
import { openUptime } from '../../src/maintenance.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';

const START = Date.UTC(2026, 0, 1);

/** Opens uptime on a database with this latest time, with a clock whose time a test sets apart from the time that passes. */
async function open(latest: number | null) {
  const recorded: Pause[][] = [];
  const { registry, clockJumps } = createMetrics([]);
  const time = { wall: START, passed: 0 };
  const uptime = await openUptime({
    store: {
      uptime: {
        read: async () => ({ latest, pauses: [] }),
        record: async (_, pauses) => void recorded.push([...pauses]),
      },
    },
    metrics: { clockJumps },
    clock: { now: () => time.wall, elapsed: () => time.passed, after: () => () => {} },
    log: pino({ level: 'silent' }),
  });
  const jump = async (ms: number) => {
    time.wall += ms;
    await uptime.tick(true);
  };
  const pass = async (ms: number) => {
    time.passed += ms;
    await jump(ms);
  };
  const jumps = async () => /^ledgerbell_clock_jumps_total (\d)$/m.exec(await registry.metrics())![1];
  return { time, uptime, recorded, pass, jump, jumps };
}

it('drops pauses in the future when a clock that was ahead is set back', async () => {
  const { uptime, recorded, pass, jump } = await open(null);
  await jump(DAY);
  expect(recorded.at(-1)).toEqual([{ from: START, until: START + DAY }]);
  await jump(-DAY);
  expect(recorded.at(-1)).toEqual([]);
  await pass(2 * HOUR);
  expect(uptime.since(HOUR)).toBe(START + HOUR);
});

it('counts jumps of the clock by more than an hour, in either direction', async () => {
  const { pass, jump, jumps } = await open(START - 2 * HOUR);
  await pass(2 * HOUR);
  await jump(HOUR);
  expect(await jumps()).toBe('0');
  await jump(HOUR + 1);
  await jump(-DAY);
  expect(await jumps()).toBe('2');
});
