import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/clock.ts';
import { createLoop } from '../../services/notification/loop.ts';

it('runs a loop only once at a time, and once more after it was woken during a run', async () => {
  const clock = createManualClock();
  const runs: (() => void)[] = [];
  const loop = createLoop(clock, () => new Promise((resolve) => runs.push(resolve)), 1_000);
  const first = loop.run();
  for (let times = 0; times < 5; times++) loop.wake();
  clock.advance(10_000);
  expect(runs).toHaveLength(1);
  runs[0]!();
  await first;
  expect(runs).toHaveLength(2);
  runs[1]!();
  await loop.run();
  clock.advance(999);
  expect(runs).toHaveLength(2);
  clock.advance(1);
  expect(runs).toHaveLength(3);
  const stopped = loop.stop();
  runs[2]!();
  await stopped;
  clock.advance(10_000);
  expect(runs).toHaveLength(3);
});
