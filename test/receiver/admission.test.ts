import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { FIRST_NETWORK } from '../../src/domain/network.ts';
import { createAdmission, type Ticket } from '../../src/receiver/admission.ts';
import { createIntake, createStorageFault } from '../../src/receiver/intake.ts';
import type { Store } from '../../src/store/store.ts';
import { configOf, testLog } from '../app.ts';

const [OPERATOR, OWN, OTHER] = [0, 3, 4];
const MIB = 1024 * 1024;

function open() {
  const state = { time: 0, wasSuspended: false };
  const elapsed = () => state.time;
  const storage = createStorageFault({ clock: { elapsed }, syncMs: () => 0, log: testLog() });
  const config = configOf({ token: 'x', apiUrl: 'http://127.0.0.1:9/api' }, 'x.sqlite', {});
  const admission = createAdmission({
    config,
    networks: config.networks.map((network) => ({ ...network, id: FIRST_NETWORK })),
    tokens: { networkOf: () => FIRST_NETWORK },
    run: { stamp: () => (state.wasSuspended ? null : { run: 'a run', runMs: state.time }) },
    quotas: { admit: () => null },
    refusals: { record: () => 0 },
    storage,
    clock: { now: elapsed, elapsed },
  });
  const admit = (scope: number) => admission.admit(scope, 'POST', undefined);
  const verdict = (scope: number) => {
    const admitted = admit(scope);
    return 'reason' in admitted ? admitted.reason : null;
  };
  return { admission, storage, state, verdict, ticket: (scope: number) => admit(scope) as Ticket };
}

it('counts the receiver as busy while 64 requests are open, and for 25 ms after the last one that came meanwhile', () => {
  const { admission, state, ticket } = open();
  const tickets = Array.from({ length: 63 }, () => ticket(OPERATOR));
  expect(admission.isBusy()).toBe(false);
  tickets.push(ticket(OPERATOR));
  state.time = 90;
  expect(admission.isBusy()).toBe(true);
  admission.close(tickets.pop()!);
  expect(admission.isBusy()).toBe(false);
  tickets.push(ticket(OPERATOR));
  for (const one of tickets) admission.close(one);
  state.time += 24;
  expect(admission.isBusy()).toBe(true);
  state.time += 1;
  expect(admission.isBusy()).toBe(false);
});

describe('the verdict', () => {
  it('refuses every URL while more than 64 MiB wait in memory', () => {
    const { admission, verdict, ticket } = open();
    for (let n = 0; n < 64; n++) admission.hold(ticket(OPERATOR), MIB);
    expect(verdict(OTHER)).toBeNull();
    const last = ticket(OPERATOR);
    admission.hold(last, 1);
    expect(verdict(OTHER)).toBe('overload');
    admission.hold(last, 0);
    expect(verdict(OTHER)).toBeNull();
  });

  it('counts complete requests as slow once they have waited for the disk for a second', () => {
    const { admission, state, verdict, ticket } = open();
    for (let n = 0; n < 128; n++) admission.hold(ticket(OPERATOR), 1);
    state.time = 999;
    expect(verdict(OTHER)).toBeNull();
    state.time = 1_000;
    expect(verdict(OTHER)).toBe('overload');
  });

  it('refuses requests just after the process was suspended: their senders gave up and come again', () => {
    const { state, verdict } = open();
    state.wasSuspended = true;
    expect(verdict(OPERATOR)).toBe('late');
  });

  it.each([
    ['are stored', 0, 'stored'],
    ['could not be stored', 0, 'busy'],
    ['are too old to be stored', 2_001, 'late'],
  ])('admits no more than 16 MiB of one URL, until its bodies %s', async (_why, age, result) => {
    const { admission, storage, state, verdict, ticket } = open();
    const append = async (bodies: unknown[]) => {
      if (result !== 'stored') throw new Error('disk I/O error');
      return bodies.map((_, n) => n);
    };
    const intake = createIntake({
      store: { inbox: { append } } as unknown as Store,
      inbox: { wake: () => undefined },
      admission,
      disk: { wasFull: () => undefined },
      quotas: { stored: () => undefined },
      storage,
      clock: { elapsed: () => state.time },
      log: testLog(),
    });
    const body = Buffer.alloc(MIB);
    const results: string[] = [];
    for (let n = 0; n < 17; n++) intake.store(ticket(OWN), body, (given) => void results.push(given));
    expect([verdict(OWN), verdict(OTHER)]).toEqual(['overload', null]);
    state.time = age;
    await turn();
    await turn();
    expect([results.length, ...new Set(results)]).toEqual([17, result]);
    expect(verdict(OWN)).toBeNull();
  });
});
