import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { UNCONFIRMED_BACK_OFF } from '../../src/delivery/outcome.ts';
import { addPause, backOff, readInOrder, repeat, SECOND, uptimeSince } from '../../src/domain/clock.ts';

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

function repeated() {
  const clock = createManualClock();
  const runs: PromiseWithResolvers<void>[] = [];
  const stop = repeat(clock, 10, () => {
    runs.push(Promise.withResolvers());
    return runs.at(-1)!.promise;
  });
  return { clock, runs, stop };
}

it('begins the pause when a run has ended', async () => {
  const { clock, runs, stop } = repeated();
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
  // The test runner's listeners would fail the test.
  const others = process.rawListeners('unhandledRejection') as NodeJS.UnhandledRejectionListener[];
  const unhandled: unknown[] = [];
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', (error) => unhandled.push(error));
  onTestFinished(() => {
    process.removeAllListeners('unhandledRejection');
    for (const listener of others) process.on('unhandledRejection', listener);
  });
  const { clock, runs, stop } = repeated();
  onTestFinished(stop);
  clock.advance(10);
  runs[0]!.reject(new Error('failed'));
  await turn();
  clock.advance(10);
  expect(runs).toHaveLength(2);
  expect(unhandled).toEqual([new Error('failed')]);
});

it('pauses after an attempt of unknown outcome with full jitter up to 1 s, doubling to a minute', () => {
  const waits = (random: number) => [0, 1, 2, 5, 6, 7, 999].map((n) => backOff(n, UNCONFIRMED_BACK_OFF, random));
  expect(waits(1)).toEqual([1, 2, 4, 32, 60, 60, 60].map((seconds) => seconds * SECOND));
  expect(waits(0.5)).toEqual([0.5, 1, 2, 16, 30, 30, 30].map((seconds) => seconds * SECOND));
  expect(waits(0)).toEqual([0, 0, 0, 0, 0, 0, 0]);
});

it.each(['is under way', 'failed'])('has applied a read when it resolves, although a later one %s', async (later) => {
  const reads = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const left = [...reads];
  const applied: string[] = [];
  const read = readInOrder(
    () => left.shift()!.promise,
    (result) => void applied.push(result),
  );
  const [first, second] = [read(), read()];
  if (later === 'failed') {
    reads[1]!.reject(new Error('The database cannot be reached.'));
    await expect(second).rejects.toThrow('cannot be reached');
  }
  reads[0]!.resolve('first');
  await first;
  expect(applied).toEqual(['first']);
});

const pause = (from: number, until: number) => ({ from, until });

it('counts back through the time in which the bot could work and skips each pause', () => {
  const pauses = [pause(100, 200), pause(400, 500)];
  expect(uptimeSince(1_000, 300, [])).toBe(700);
  expect(uptimeSince(1_000, 300, pauses)).toBe(700);
  expect(uptimeSince(1_000, 600, pauses)).toBe(300);
  expect(uptimeSince(1_000, 750, pauses)).toBe(50);
  expect(uptimeSince(450, 10, pauses)).toBe(390);
});

it('joins a pause with the one that it touches', () => {
  const pauses = addPause(addPause([], pause(1, 5)), pause(5, 9));
  expect(pauses).toEqual([pause(1, 9)]);
  expect(addPause(pauses, pause(20, 20))).toEqual(pauses);
  expect(addPause(pauses, pause(20, 30))).toHaveLength(2);
});
