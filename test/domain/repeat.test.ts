import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { repeat } from '../../src/domain/repeat.ts';

it('runs first after a time of its own, then again after each pause, until it is stopped', () => {
  const clock = createManualClock();
  const start = clock.now();
  const times: number[] = [];
  const stop = repeat(clock, 10, () => void times.push(clock.now() - start), 3);
  clock.advance(25);
  expect(times).toEqual([3, 13, 23]);
  stop();
  clock.advance(100);
  expect(times).toHaveLength(3);
});

it('begins the pause when a run has ended', async () => {
  const clock = createManualClock();
  const runs: PromiseWithResolvers<void>[] = [];
  const stop = repeat(clock, 10, () => {
    runs.push(Promise.withResolvers());
    return runs.at(-1)!.promise;
  });
  clock.advance(100);
  expect(runs).toHaveLength(1);
  runs[0]!.resolve();
  await turn();
  clock.advance(9);
  expect(runs).toHaveLength(1);
  clock.advance(1);
  expect(runs).toHaveLength(2);
  stop();
  runs[1]!.resolve();
  await turn();
  clock.advance(100);
  expect(runs, 'stopped during a run').toHaveLength(2);
});

it('starts no run after one that stops it', () => {
  const clock = createManualClock();
  let runs = 0;
  const stop = repeat(clock, 10, () => {
    runs++;
    stop();
  });
  clock.advance(100);
  expect(runs).toBe(1);
});
