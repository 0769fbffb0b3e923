import { expect, it } from 'vitest';
import { quotaLimits, readConfig } from '../../src/config.ts';
import { DAY } from '../../src/domain/clock.ts';
import type { QuotaLimits } from '../../src/domain/inbox.ts';
import { createQuotas } from '../../src/receiver/admission.ts';

const LIMITS: QuotaLimits = { rate: 2, burst: 3, waiting: 5, waitingBytes: 100, dayBytes: 1_000, operatorRate: null };
const [OPERATOR, OWN, OTHER] = [0, 3, 4];

function open(limits: Partial<QuotaLimits> = {}) {
  let time = 20_000 * DAY;
  const now = () => time;
  const quotas = createQuotas({
    limits: { ...LIMITS, ...limits },
    isDiskLow: () => false,
    clock: { now, elapsed: now },
  });
  const times = (count: number, scope: number) => Array.from({ length: count }, () => quotas.admit(scope));
  const pass = (ms: number) => {
    time += ms;
  };
  return { ...quotas, times, pass, now };
}

it('accepts a burst and then the rate at one URL, without an effect on others', () => {
  const { times, pass, usage, now } = open();
  expect(times(5, OWN)).toEqual([null, null, null, 'rate', 'rate']);
  expect(times(1, OTHER)).toEqual([null]);
  pass(1_000);
  expect(times(3, OWN)).toEqual([null, null, 'rate']);
  expect(usage(OWN).refused).toEqual({ reason: 'rate', count: 3, at: now() });
  expect(usage(OTHER).refused).toBeNull();
});

it('limits the rate of the operator’s URL only if one is set', () => {
  expect(new Set(open().times(10_000, OPERATOR))).toEqual(new Set([null]));
  expect(open({ operatorRate: 1 }).times(4, OPERATOR)).toEqual([null, null, null, 'rate']);
});

it('refuses deliveries at a URL where too many or too large ones wait, until the database shows that fewer do', () => {
  const { stored, load, admit, usage } = open();
  for (let n = 0; n < 5; n++) stored(OWN, 10);
  stored(OTHER, 100);
  expect([admit(OWN), admit(OTHER)]).toEqual(['backlog', 'backlog']);
  load([{ scope: OWN, waiting: 4, waitingBytes: 99, day: 20_000, dayBytes: 50 }]);
  expect([admit(OWN), usage(OWN).waiting, admit(OTHER), usage(OTHER).waiting]).toEqual([null, 4, null, 0]);
});

it('accepts deliveries at a URL again on the day after it used its daily bytes', () => {
  const { load, admit, usage, pass, now } = open();
  load([{ scope: OWN, waiting: 0, waitingBytes: 0, day: Math.floor(now() / DAY), dayBytes: 1_000 }]);
  expect([admit(OWN), admit(OTHER), admit(OPERATOR)]).toEqual(['daily', null, null]);
  pass(DAY);
  expect([admit(OWN), usage(OWN).storedToday]).toEqual([null, 0]);
});

it('accepts a burst of a thousand within the default quota', () => {
  const { admit, stored } = open(quotaLimits(readConfig({ DISCORD_TOKEN: 't' })));
  const admitted = Array.from({ length: 1_000 }, () => {
    const refusal = admit(OWN);
    stored(OWN, 1_000);
    return refusal;
  });
  expect(new Set(admitted)).toEqual(new Set([null]));
});
