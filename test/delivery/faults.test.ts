import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Fault } from '../../sandbox/discord/index.ts';
import { GATHER_MS } from '../../src/delivery/schedule.ts';
import { StoreError } from '../../src/errors.ts';
import { ALERTS, GENERAL, MESSAGES, startPipeline, TREASURY, WHALES } from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest } from '../pipeline/per-test.ts';

const CHANNELS = [ALERTS, WHALES, GENERAL];

pipelineForEachTest(...CHANNELS);

/** Faults of one request or one channel. */
const LOCAL: [string, Fault][] = [
  ['500', { kind: 'error', status: 500 }],
  ['502 as an error page', { kind: 'cloudflare', status: 502 }],
  ['a truncated response', { kind: 'cut' }],
  ['a lost response', { kind: 'lost' }],
  ['a connection that breaks', { kind: 'reset' }],
  ['no response to a request that did nothing', { kind: 'hang' }],
  ['no response to a request that posted', { kind: 'hang', done: true }],
  ['429 with Retry-After', { kind: 'rate-limit', retryAfterMs: 50 }],
];
/** A fault that parks its channel. */
const PARKED: [string, Fault] = [
  '403 for a missing permission',
  { kind: 'error', status: 403, code: 50013, message: 'Missing Permissions' },
];
/** Faults that concern all sending, wherever they occur. */
const EVERYWHERE: [string, Fault][] = [
  ['429 for everything', { kind: 'rate-limit', retryAfterMs: 50, global: true }],
  ['429 without headers', { kind: 'rate-limit', retryAfterMs: 50, headers: false }],
  ['403 as an error page', { kind: 'cloudflare', status: 403 }],
  ['403 with an unknown code', { kind: 'error', status: 403, code: 99_999 }],
  ['401', { kind: 'error', status: 401, code: 0 }],
];

it.each([...LOCAL, PARKED])(
  'posts every alert once and in order after %s in one channel, and delays no other channel',
  async (_, fault) => {
    if (fault.kind === 'hang') pipeline.giveUpSoon(ALERTS);
    const began = pipeline.clock.now();
    const active = pipeline.discord.fault({ fault, path: MESSAGES, method: 'POST', channelId: ALERTS });
    for (const n of [1, 2, 3]) {
      await pipeline.pay(n);
      await pipeline.turnUntil(
        `the other channels show ${n} alerts`,
        () => pipeline.numbers(WHALES).length === n && pipeline.numbers(GENERAL).length === n,
        1,
      );
    }
    expect(pipeline.clock.now() - began).toBeLessThan(3_000);
    expect(active.hits).toBeGreaterThan(0);
    expect(await pipeline.settled()).toBe(false);
    active.clear();
    await pipeline.turnUntilSettled();
    expect(CHANNELS.map(pipeline.numbers)).toEqual(CHANNELS.map(() => ['1', '2', '3']));
  },
);

it.each([...LOCAL, ...EVERYWHERE])(
  'posts every alert once and in order in every channel after %s everywhere',
  async (_, fault) => {
    if (fault.kind === 'hang') pipeline.giveUpSoon(...CHANNELS);
    const active = pipeline.discord.fault({ fault, times: 7 });
    for (const n of [1, 2, 3]) {
      await pipeline.pay(n);
      await pipeline.pass(1_000);
    }
    await pipeline.turnUntilSettled(7_200);
    // The fault also affects searches for messages that Discord may have stored.
    expect(active.hits).toBe(7);
    expect(CHANNELS.map(pipeline.numbers)).toEqual(CHANNELS.map(() => ['1', '2', '3']));
  },
);

it('asks a store that fails again after a second, not at once', async () => {
  let claims = 0;
  const claim = async () => {
    claims++;
    await turn();
    throw new StoreError('database is locked', 'SQLITE_BUSY');
  };
  const failing = await startPipeline({ store: () => ({ outbox: { claim } }) });
  await failing.watch(TREASURY, ALERTS);
  await failing.pay(1);
  await failing.routed();
  const seen: number[] = [];
  for (const ms of [GATHER_MS, 999, 1]) {
    failing.clock.advance(ms);
    for (let n = 0; n < 9; n++) await turn();
    seen.push(claims);
  }
  expect(seen).toEqual([1, 1, 2]);
});
