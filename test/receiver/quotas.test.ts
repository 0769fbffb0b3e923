import { setImmediate as turn } from 'node:timers/promises';
import pino from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { DAY } from '../../src/domain/clock.ts';
import type { QuotaLimits } from '../../src/domain/quota.ts';
import type { Ticket } from '../../src/receiver/admission.ts';
import { watchDisk } from '../../src/receiver/disk-reserve.ts';
import { createQuotas } from '../../src/receiver/quotas.ts';
import { until } from '../until.ts';
import { OTHER_SCOPE, OTHER_TOKEN, startReceiver, TOKEN } from './harness.ts';

const LIMITS: QuotaLimits = { rate: 2, burst: 3, waiting: 5, waitingBytes: 100, dayBytes: 1_000, operatorRate: null };
const [OPERATOR, OWN, OTHER] = [0, 3, 4];
const THIRD_TOKEN = 'the-token-of-a-third-url';

function open(limits: Partial<QuotaLimits> = {}) {
  let time = 20_000 * DAY;
  const quotas = createQuotas({ limits: { ...LIMITS, ...limits }, reserveBytes: 1_000, now: () => time });
  const times = (count: number, scope: number) => Array.from({ length: count }, () => quotas.admit(scope));
  const pass = (ms: number) => {
    time += ms;
  };
  return { ...quotas, times, pass, now: () => time };
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

it('refuses deliveries at a URL where too many or too large ones wait until some are routed', () => {
  const { stored, routed, admit, usage } = open();
  const bodies = Array.from({ length: 5 }, () => ({ scope: OWN, bytes: 10 }));
  stored(bodies);
  expect([admit(OWN), admit(OTHER)]).toEqual(['backlog', null]);
  routed(bodies.slice(0, 1));
  expect([admit(OWN), usage(OWN).waiting]).toEqual([null, 4]);
  stored([{ scope: OTHER, bytes: 100 }]);
  expect(admit(OTHER)).toBe('backlog');
});

it('accepts deliveries at a URL again once the database shows that none of its deliveries wait', () => {
  const { stored, load, admit, usage } = open();
  stored(Array.from({ length: 5 }, () => ({ scope: OWN, bytes: 20 })));
  load([]);
  expect([admit(OWN), usage(OWN).waiting]).toEqual([null, 0]);
});

it('counts no waiting bytes at a URL where no delivery waits', () => {
  const { stored, routed, admit } = open();
  stored([{ scope: OWN, bytes: 100 }]);
  routed([{ scope: OWN, bytes: 0 }]);
  expect(admit(OWN)).toBeNull();
});

it('accepts deliveries at a URL again on the day after it used its daily bytes', () => {
  const { load, admit, usage, pass, now } = open();
  load([{ scope: OWN, waiting: 0, waitingBytes: 0, day: Math.floor(now() / DAY), dayBytes: 1_000 }]);
  expect([admit(OWN), admit(OTHER), admit(OPERATOR)]).toEqual(['daily', null, null]);
  pass(DAY);
  expect([admit(OWN), usage(OWN).storedToday]).toEqual([null, 0]);
});

it('accepts deliveries only at the operator’s URL while the disk is almost full, and for a minute after it was full', () => {
  const { diskFree, diskFull, admit, pass } = open();
  diskFree(999);
  expect([admit(OWN), admit(OPERATOR)]).toEqual(['disk-reserve', null]);
  diskFree(1_000);
  expect(admit(OWN)).toBeNull();
  diskFull();
  expect([admit(OWN), admit(OPERATOR)]).toEqual(['disk-reserve', null]);
  pass(60_000);
  expect(admit(OWN)).toBeNull();
});

it('refuses deliveries at each URL whose quarantine is full, the operator’s too, until it has room', () => {
  const { quarantineFull, admit, usage, now } = open();
  quarantineFull(new Set([OWN, OPERATOR]));
  expect([admit(OWN), admit(OTHER), admit(OPERATOR)]).toEqual(['quarantine-full', null, 'quarantine-full']);
  expect(usage(OWN).refused).toEqual({ reason: 'quarantine-full', count: 1, at: now() });
  quarantineFull(new Set());
  expect([admit(OWN), admit(OPERATOR)]).toEqual([null, null]);
});

it('subtracts what is stored between two checks of the disk from the space that it found free', () => {
  const { diskFree, stored, admit } = open();
  diskFree(1_100);
  stored([{ scope: OTHER, bytes: 25 }]);
  expect(admit(OWN)).toBeNull();
  stored([{ scope: OPERATOR, bytes: 1 }]);
  expect([admit(OWN), admit(OTHER), admit(OPERATOR)]).toEqual(['disk-reserve', 'disk-reserve', null]);
  diskFree(1_100);
  expect(admit(OWN)).toBeNull();
});

it('refuses deliveries at a URL with 16 MiB in memory until those are stored, without an effect on others', async () => {
  const disk = Promise.withResolvers<void>();
  const receiver = await startReceiver({
    projects: [{ token: OTHER_TOKEN }, { token: THIRD_TOKEN }],
    between: (store) => ({
      ...store,
      inbox: { ...store.inbox, append: (rows) => disk.promise.then(() => store.inbox.append(rows)) },
    }),
  });
  const post = async (token: string) => (await receiver.post(`/hooks/${token}`, 'x')).status;
  const body = Buffer.alloc(1024 * 1024);
  const results = Array.from({ length: 17 }, () => {
    const ticket = receiver.intake.admit(OTHER_SCOPE) as Ticket;
    return new Promise((resolve) => receiver.intake.store(ticket, body, resolve));
  });
  expect([await post(OTHER_TOKEN), await receiver.refused()]).toEqual([503, ['overload']]);
  const others = [post(THIRD_TOKEN), post(TOKEN)];
  await until('17 bodies and 2 requests wait', () => receiver.intake.state().open === 19);
  disk.resolve();
  expect(await Promise.all(others)).toEqual([200, 200]);
  expect(new Set(await Promise.all(results))).toEqual(new Set(['stored']));
  expect(await post(OTHER_TOKEN)).toBe(200);
});

/** Watches a disk; `checked` and `logged`: what the checks reported. */
function watch(freeBytes: () => Promise<number>) {
  const clock = createManualClock();
  const checked: number[] = [];
  const logged: string[] = [];
  const stop = watchDisk({
    file: 'x',
    reserveBytes: 50,
    clock,
    log: pino({}, { write: (line: string) => void logged.push(line) }),
    onChecked: (bytes) => void checked.push(bytes),
    freeBytes,
  });
  return { clock, checked, logged, stop };
}

it('checks the disk every ten seconds, and logs that it is almost full', async () => {
  let freeBytes = 100;
  const { clock, checked, logged, stop } = watch(async () => freeBytes);
  await until('the disk is checked', () => checked.length === 1);
  expect(logged).toEqual([]);
  freeBytes = 49;
  clock.advance(10_000);
  await until('the disk is checked again', () => checked.length === 2);
  expect(checked).toEqual([100, 49]);
  expect(logged).toEqual([expect.stringContaining('disk almost full')]);
  stop();
});

it('logs once that the disk is almost full, and again only after space was freed', async () => {
  let freeBytes = 49;
  const { clock, checked, logged, stop } = watch(async () => freeBytes);
  onTestFinished(stop);
  await until('the disk is checked', () => checked.length === 1);
  const logs = [logged.length];
  for (freeBytes of [49, 100, 49]) {
    clock.advance(10_000);
    await until('the disk is checked again', () => checked.length > logs.length);
    logs.push(logged.length);
  }
  expect(logs).toEqual([1, 1, 1, 2]);
});

it('checks the disk again only ten seconds after the first check ended, and reports nothing after the stop', async () => {
  const checks: PromiseWithResolvers<number>[] = [];
  const { clock, checked, logged, stop } = watch(() => {
    checks.push(Promise.withResolvers());
    return checks.at(-1)!.promise;
  });
  clock.advance(60_000);
  expect(checks).toHaveLength(1);
  checks[0]!.resolve(100);
  await until('the first check ends', () => checked.length === 1);
  clock.advance(10_000);
  expect(checks).toHaveLength(2);
  stop();
  checks[1]!.resolve(49);
  await turn();
  clock.advance(60_000);
  expect([checks.length, checked, logged]).toEqual([2, [100], []]);
});

it('returns 503 at a URL beyond its quota, counts the reason, and accepts every delivery at the operator’s URL', async () => {
  const receiver = await startReceiver({ environment: { QUOTA_RATE: '1', QUOTA_BURST: '2' } });
  const statuses = async (token: string) => {
    const responses = [1, 2, 3, 4].map(() => receiver.post(`/hooks/${token}`, '{}'));
    return (await Promise.all(responses)).map(({ status }) => status).sort();
  };
  expect(await statuses(OTHER_TOKEN)).toEqual([200, 200, 503, 503]);
  expect(await statuses(TOKEN)).toEqual([200, 200, 200, 200]);
  expect(await receiver.refused()).toEqual(['rate', 'rate']);
  expect(receiver.services.receiverQuota(OTHER_SCOPE).storedToday).toBe(4);
  expect(await receiver.store.inbox.usage()).toMatchObject([
    { scope: OTHER_SCOPE, waiting: 2, waitingBytes: 4, dayBytes: 4 },
  ]);
});

it('accepts a burst of a thousand within the default quota', async () => {
  const receiver = await startReceiver();
  for (let n = 0; n < 10; n++) {
    const responses = Array.from({ length: 100 }, () => receiver.post(`/hooks/${OTHER_TOKEN}`, '{}'));
    for (const { status } of await Promise.all(responses)) expect(status).toBe(200);
  }
  expect(await receiver.refused()).toEqual([]);
});
