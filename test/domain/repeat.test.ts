import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
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

it('runs again after a run that rejects, and leaves the error to the process', async () => {
  const unhandled = takeUnhandled();
  const clock = createManualClock();
  const runs: PromiseWithResolvers<void>[] = [];
  const stop = repeat(clock, 10, () => {
    runs.push(Promise.withResolvers());
    return runs.at(-1)!.promise;
  });
  onTestFinished(stop);
  clock.advance(10);
  runs[0]!.reject(new Error('failed'));
  await turn();
  clock.advance(10);
  expect(runs).toHaveLength(2);
  expect(unhandled).toEqual([new Error('failed')]);
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

/** Collects the errors that no one handles, until the test has finished; they would fail it. */
function takeUnhandled(): unknown[] {
  const errors: unknown[] = [];
  const others = process.rawListeners('unhandledRejection') as NodeJS.UnhandledRejectionListener[];
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', (error) => errors.push(error));
  onTestFinished(() => {
    process.removeAllListeners('unhandledRejection');
    for (const listener of others) process.on('unhandledRejection', listener);
  });
  return errors;
}
