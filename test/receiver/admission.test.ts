import { expect, it } from 'vitest';
import { createAdmission } from '../../src/receiver/admission.ts';

it('counts the receiver as busy while 64 requests are open, and for 25 ms after the last one that came meanwhile', () => {
  let time = 0;
  const admission = createAdmission(() => time);
  const tickets = Array.from({ length: 63 }, () => admission.open(0)!);
  expect(admission.isBusy()).toBe(false);
  tickets.push(admission.open(0)!);
  time = 90;
  expect(admission.isBusy()).toBe(true);
  admission.close(tickets.pop()!);
  expect(admission.isBusy()).toBe(false);
  tickets.push(admission.open(0)!);
  for (const ticket of tickets) admission.close(ticket);
  time += 24;
  expect(admission.isBusy()).toBe(true);
  time += 1;
  expect(admission.isBusy()).toBe(false);
});

it('refuses requests once 128 complete ones have waited a second for the disk', () => {
  let time = 0;
  const admission = createAdmission(() => time);
  for (let n = 0; n < 128; n++) admission.open(0)!.isComplete = true;
  time = 999;
  expect(admission.open(0)).not.toBeNull();
  time = 1_000;
  expect(admission.open(0)).toBeNull();
});
