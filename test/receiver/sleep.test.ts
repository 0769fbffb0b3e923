import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { watchSleep } from '../../src/receiver/sleep.ts';

it('knows for a second that the process slept, even before any timer runs', () => {
  const clock = createManualClock(0);
  const { hasSlept } = watchSleep(clock.now, clock);
  clock.advance(60_000);
  expect(hasSlept()).toBe(false);
  clock.leap(3_000);
  expect(hasSlept()).toBe(true);
  clock.advance(999);
  expect(hasSlept()).toBe(true);
  clock.advance(1);
  expect(hasSlept()).toBe(false);
});

it('does not count a pause as sleep that is too short for a sender to give up', () => {
  const clock = createManualClock(0);
  const { hasSlept } = watchSleep(clock.now, clock);
  clock.leap(1_500);
  expect(hasSlept()).toBe(false);
});
