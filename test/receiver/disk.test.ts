import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { watchDisk } from '../../src/receiver/disk.ts';
import { readLog } from '../app.ts';
import { until } from '../until.ts';

/** Watches a disk with a reserve of 50 bytes; `checks`: how many have ended. */
function watch(freeBytes: () => Promise<number>) {
  const clock = createManualClock();
  const logged: string[] = [];
  const state = { checks: 0 };
  const disk = watchDisk({
    file: 'x',
    reserveBytes: 50,
    clock,
    log: readLog('info', (line) => void logged.push(JSON.parse(line).msg)),
    reusableBytes: async () => 0,
    freeBytes: () => freeBytes().finally(() => void setImmediate(() => state.checks++)),
  });
  onTestFinished(disk.close);
  clock.advance(0);
  const checked = (checks: number) => until('the disk is checked', () => state.checks === checks);
  return { clock, logged, checked, disk };
}

it('keeps the reserve while the disk is almost full, by a check every ten seconds, and logs that once', async () => {
  let freeBytes = 50;
  const { clock, logged, checked, disk } = watch(async () => freeBytes);
  await checked(1);
  const seen = [[disk.isLow(), logged.length]];
  for (freeBytes of [49, 49, 100, 49]) {
    clock.advance(10_000);
    await checked(seen.length + 1);
    seen.push([disk.isLow(), logged.length]);
  }
  expect(seen).toEqual([
    [false, 0],
    [true, 1],
    [true, 1],
    [false, 1],
    [true, 2],
  ]);
  expect(new Set(logged)).toEqual(
    new Set(['disk almost full: rejecting deliveries to servers’ own URLs, deleting transfers of uncataloged tokens']),
  );
});

it('keeps the reserve for a minute after the disk was full', () => {
  const { clock, disk } = watch(() => new Promise(() => undefined));
  expect(disk.isLow()).toBe(false);
  disk.wasFull();
  clock.advance(59_999);
  expect(disk.isLow()).toBe(true);
  clock.advance(1);
  expect(disk.isLow()).toBe(false);
});

it('keeps no reserve where the file system does not report its free space', async () => {
  const { checked, disk } = watch(() => Promise.reject(new Error('not supported')));
  await checked(1);
  expect(disk.isLow()).toBe(false);
});
