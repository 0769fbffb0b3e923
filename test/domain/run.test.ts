import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { startRun } from '../../src/domain/identity.ts';

function watch() {
  const clock = createManualClock(0);
  const state = { skipped: 0, wrong: 0 };
  const run = startRun({
    now: () => clock.now() + state.skipped + state.wrong,
    elapsed: () => clock.now() + state.skipped,
    after: clock.after,
  });
  onTestFinished(run.close);
  return { clock, state, stamp: () => run.stamp()!, wasSuspended: () => run.stamp() === null };
}

it('knows for a second that the process was suspended, even before any timer runs', () => {
  const { clock, state, wasSuspended } = watch();
  clock.advance(60_000);
  expect(wasSuspended()).toBe(false);
  state.skipped = 1_750;
  expect(wasSuspended()).toBe(true);
  clock.advance(999);
  expect(wasSuspended()).toBe(true);
  clock.advance(1);
  expect(wasSuspended()).toBe(false);
});

it('does not count a pause that is too short for a sender to give up', () => {
  const { clock, wasSuspended } = watch();
  clock.leap(1_500);
  expect(wasSuspended()).toBe(false);
});

it('measures how far apart two deliveries of a run arrive, whatever the clock of the machine shows', () => {
  const { clock, state, stamp } = watch();
  const first = stamp();
  clock.advance(5_000);
  state.wrong = -60_000;
  clock.advance(4_000);
  expect(stamp()).toEqual({ run: first.run, runMs: first.runMs + 9_000 });
});

it('begins another run after the machine was suspended, while no time passed for the process', () => {
  const { clock, state, stamp, wasSuspended } = watch();
  const { run } = stamp();
  state.wrong = 1_500;
  clock.advance(1_000);
  expect(stamp().run).toBe(run);
  state.wrong += 1_501;
  expect([wasSuspended(), stamp().run === run]).toEqual([false, false]);
});
