import { pino } from 'pino';
import { expect, it } from 'vitest';
import { DAY, HOUR, type Pause } from '../../src/domain/clock.ts';
import { openUptime } from '../../src/maintenance.ts';

const START = Date.UTC(2026, 0, 1);

/** Opens uptime on a database with this latest time, with a clock whose time a test sets apart from the time that passes. */
async function open(latest: number | null) {
  const recorded: Pause[][] = [];
  const time = { wall: START, passed: 0 };
  const uptime = await openUptime({
    store: {
      uptime: {
        read: async () => ({ latest, pauses: [] }),
        record: async (_, pauses) => void recorded.push([...pauses]),
      },
    },
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
  return { time, uptime, recorded, pass, jump };
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
