import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { createAcks } from '../../src/receiver/acks.ts';
import { createAdmission } from '../../src/receiver/admission.ts';
import { createIntake } from '../../src/receiver/intake.ts';
import { watchSleep } from '../../src/receiver/sleep.ts';

it('knows for a second after a sleep of the process that it slept, before any timer runs', () => {
  const clock = createManualClock(0);
  const { hasSlept } = watchSleep(clock.now, clock.after);
  clock.advance(60_000);
  expect(hasSlept()).toBe(false);
  clock.leap(3_000);
  expect(hasSlept()).toBe(true);
  clock.advance(999);
  expect(hasSlept()).toBe(true);
  clock.advance(1);
  expect(hasSlept()).toBe(false);
});

it('does not take a short pause for sleep, in which no sender gives up', () => {
  const clock = createManualClock(0);
  const { hasSlept } = watchSleep(clock.now, clock.after);
  clock.leap(1_500);
  expect(hasSlept()).toBe(false);
});

it('refuses requests while it knows of a sleep, because their senders may have delivered to another process', () => {
  let slept = false;
  const admission = createAdmission(() => 0);
  const quotas = { admit: () => null, stored: () => undefined, diskFull: () => undefined };
  const none = {
    store: { inbox: {} as never },
    acks: createAcks(),
    onStored: () => undefined,
    onFault: () => undefined,
  };
  const intake = createIntake({ ...none, admission, quotas, now: () => 0, hasSlept: () => slept });
  expect(intake.admit(0)).toMatchObject({ scope: 0 });
  slept = true;
  expect(intake.admit(0)).toBe('late');
});
