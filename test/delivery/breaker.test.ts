import { describe, expect, it } from 'vitest';
import { type Fault, seed } from '../../sandbox/discord/index.ts';
import { MINUTE, SECOND } from '../../src/domain/clock.ts';
import { ALERTS, GENERAL, HARBOR, MESSAGES, TREASURY, WHALES } from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest } from '../pipeline/per-test.ts';

const CHANNELS = [ALERTS, WHALES, GENERAL];

pipelineForEachTest();

const posts = () => pipeline.discord.requests().filter(({ method }) => method === 'POST');

describe('the breaker', () => {
  const faults: [string, Fault][] = [
    ["Cloudflare's error page", { kind: 'cloudflare', status: 403 }],
    ['429 without a duration', { kind: 'rate-limit', retryAfterMs: 1, headers: false }],
    ['403 with an unknown code', { kind: 'error', status: 403, code: 99_999 }],
  ];
  it.each(faults)(
    'pauses every channel after %s and probes after 1, 2, 4, 8, 15 and 15 minutes',
    async (_name, fault) => {
      await pipeline.watch(TREASURY, ALERTS);
      const active = pipeline.discord.fault({ fault, path: MESSAGES });
      await pipeline.payAndWait(1);
      expect(pipeline.deliverer.state()).toMatchObject({ breaker: true });
      for (const channel of [WHALES, GENERAL]) await pipeline.watch(TREASURY, channel);
      await pipeline.pay(2);
      await pipeline.pass(46 * MINUTE);
      const times = posts().map(({ at }) => Date.parse(at));
      const gaps = times.slice(1).map((time, n) => Math.round((time - times[n]!) / MINUTE));
      expect(gaps).toEqual([1, 2, 4, 8, 15, 15]);
      expect(await pipeline.store.channels.blocked(HARBOR)).toEqual([]);
      expect(await pipeline.store.subscriptions.list(HARBOR)).toHaveLength(3);

      active.clear();
      await pipeline.turnUntilSettled();
      expect(CHANNELS.map(pipeline.numbers)).toEqual([['1', '2'], ['2'], ['2']]);
      expect(pipeline.deliverer.state()).toMatchObject({ breaker: false });
      // The next pause is a minute again.
      const again = pipeline.discord.fault({ fault, path: MESSAGES, times: 1 });
      const before = pipeline.clock.now();
      await pipeline.payAndWait(3);
      expect(again.hits).toBe(1);
      await pipeline.turnUntilSettled();
      expect(CHANNELS.map(pipeline.numbers)).toEqual([
        ['1', '2', '3'],
        ['2', '3'],
        ['2', '3'],
      ]);
      expect(Math.round((pipeline.clock.now() - before) / MINUTE)).toBe(1);
    },
  );
});

it('sends only probes while Discord refuses the token, keeps receiving, and sends again once it is accepted', async () => {
  for (const channel of CHANNELS) await pipeline.watch(TREASURY, channel);
  const fault = pipeline.discord.fault({ fault: { kind: 'error', status: 401, code: 0 } });
  await pipeline.payAndWait(1);
  expect(pipeline.deliverer.state()).toMatchObject({ authorized: false });
  const first = posts().length;
  expect(first).toBeLessThanOrEqual(CHANNELS.length);
  await pipeline.pay(2);
  await pipeline.pass(30 * MINUTE);
  const tried = posts().length - first;
  expect(tried).toBeGreaterThanOrEqual(2);
  expect(tried).toBeLessThanOrEqual(10);
  expect(await pipeline.backlog()).toMatchObject({
    inbox: { waiting: 0 },
    deadLetters: 0,
    channels: { parked: 0, unreachable: 0 },
  });
  fault.clear();
  await pipeline.turnUntilSettled();
  expect(CHANNELS.map(pipeline.numbers)).toEqual(CHANNELS.map(() => ['1', '2']));
  expect(pipeline.deliverer.state()).toMatchObject({ authorized: true });
});

it('uses few refusals for 200 blocked channels of one server, and sends another server’s alerts meanwhile', async () => {
  const channels = Array.from({ length: 200 }, (_, n) => {
    const { id } = pipeline.discord.act({ do: 'channel.create', guildId: HARBOR, name: `c${n}` });
    pipeline.discord.act({ do: 'channel.forbid', channelId: id! });
    return id!;
  });
  for (const id of channels) await pipeline.watch(TREASURY, id);
  await pipeline.watch(TREASURY, seed.orchid.alerts, { guildId: seed.orchid.id });
  const refusals = () => pipeline.discord.requests().filter(({ status }) => status === 403).length;
  await pipeline.pay(1);
  await pipeline.pass(5 * SECOND);
  expect(pipeline.numbers(seed.orchid.alerts)).toEqual(['1']);
  for (let flip = 0; flip < 50; flip++) {
    pipeline.deliverer.guildChanged(HARBOR);
    await pipeline.pass(10 * SECOND, 10 * SECOND);
  }
  expect(refusals()).toBeLessThan(60);
  expect(pipeline.deliverer.state()).toMatchObject({ breaker: false, pausedGuilds: 1, invalidRequests: refusals() });
  await pipeline.pay(2);
  await pipeline.pass(5 * SECOND);
  expect(pipeline.numbers(seed.orchid.alerts)).toEqual(['1', '2']);

  for (const channelId of channels) pipeline.discord.act({ do: 'channel.allow', channelId });
  pipeline.deliverer.guildChanged(HARBOR);
  await pipeline.turnUntilSettled(300);
  for (const id of channels) expect(pipeline.numbers(id)).toEqual(['1', '2']);
});
