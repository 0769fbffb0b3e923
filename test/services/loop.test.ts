import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/clock.ts';
import { createLoop } from '../../services/notification/loop.ts';

it('runs a loop once at a time, again after each pause, and not after it was stopped', async () => {
  const clock = createManualClock();
  const runs: (() => void)[] = [];
  const loop = createLoop(clock, () => new Promise((resolve) => runs.push(resolve)), 1_000);
  const first = loop.run();
  void loop.run();
  clock.advance(10_000);
  expect(runs).toHaveLength(1);
  runs[0]!();
  await first;
  clock.advance(1_000);
  expect(runs).toHaveLength(2);
  const stopped = loop.stop();
  runs[1]!();
  await stopped;
  clock.advance(10_000);
  expect(runs).toHaveLength(2);
});
