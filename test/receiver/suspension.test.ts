import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { watchSuspension } from '../../src/receiver/suspension.ts';

it('knows for a second that the process was suspended, even before any timer runs', () => {
  const clock = createManualClock(0);
  let skipped = 0;
  const { wasSuspended } = watchSuspension(() => clock.now() + skipped, clock);
  clock.advance(60_000);
  expect(wasSuspended()).toBe(false);
  skipped = 1_750;
  expect(wasSuspended()).toBe(true);
  clock.advance(999);
  expect(wasSuspended()).toBe(true);
  clock.advance(1);
  expect(wasSuspended()).toBe(false);
});

it('does not count a pause that is too short for a sender to give up', () => {
  const clock = createManualClock(0);
  const { wasSuspended } = watchSuspension(clock.now, clock);
  clock.leap(1_500);
  expect(wasSuspended()).toBe(false);
});
