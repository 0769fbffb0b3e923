import { describe, expect, it } from 'vitest';
import { type RequestRecord, seed } from '../../sandbox/discord/index.ts';
import { HOUR, MINUTE, SECOND } from '../../src/domain/clock.ts';
import { StoreError } from '../../src/errors.ts';
import { ALERTS, ALICE, HARBOR, MESSAGES, payment, REFUSED, TREASURY, USDC } from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest, usePipeline } from '../pipeline/per-test.ts';

pipelineForEachTest(ALERTS);

const blocked = () => pipeline.store.channels.blocked(HARBOR);
const posts = (channel: string): RequestRecord[] =>
  pipeline.discord
    .requests()
    .filter(({ method, path }) => method === 'POST' && path.includes(`/channels/${channel}/messages`));

describe('messages', () => {
  it('posts a burst in order, with as many alerts per message as fit', async () => {
    pipeline.discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 2_000 }, path: MESSAGES, times: 1 });
    await pipeline.pay(1);
    await pipeline.turnUntil('the bot tries once to post in #alerts', () => posts(ALERTS).length === 1);
    for (let n = 2; n <= 26; n++) await pipeline.pay(n);
    await pipeline.routed();
    await pipeline.untilShown(ALERTS, 26);
    expect(pipeline.numbers(ALERTS)).toEqual(Array.from({ length: 26 }, (_, n) => String(n + 1)));
    // The first alert alone, then three messages with up to ten alerts each.
    expect(pipeline.discord.messages(ALERTS)).toHaveLength(4);
  });

  it('writes messages in the language of the Discord server until another one is chosen', async () => {
    await pipeline.store.guilds.recordLocale(HARBOR, 'de');
    await pipeline.pay(1);
    await pipeline.untilShown(ALERTS, 1);
    await pipeline.store.guilds.changeSettings(HARBOR, { language: 'en-US' });
    await pipeline.pay(2);
    await pipeline.untilShown(ALERTS, 2);
    const words = pipeline.alerts(ALERTS).map(({ text }) => /-# (\w+) /.exec(text)?.[1]);
    expect(words).toEqual(['von', 'from']);
  });

  it('posts an alert whose subscription was removed before it was sent', async () => {
    await pipeline.watch(USDC, ALERTS);
    pipeline.discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 2_000 }, path: MESSAGES, times: 1 });
    await pipeline.pay(7);
    await pipeline.turnUntil('the bot tries once to post in #alerts', () => posts(ALERTS).length === 1);
    for (const change of [{}, { from: TREASURY, to: ALICE }]) await pipeline.receive(payment(change));
    await pipeline.routed();
    for (const { id } of await pipeline.store.subscriptions.list(HARBOR))
      await pipeline.store.subscriptions.remove(HARBOR, id);
    await pipeline.turnUntilSettled();
    const signs = pipeline.alerts(ALERTS).map(({ title }) => / 0x111111…111111 ([+−])\d/.exec(title)?.[1]);
    // Payments out come first.
    expect(signs).toEqual(['+', '−', '+']);
  });
});

it('searches for a message that may be posted even if other attempts and searches fail too', async () => {
  const page = { kind: 'cloudflare', status: 403 } as const;
  const faults = [
    pipeline.discord.fault({ fault: page, method: 'POST', path: MESSAGES, times: 1 }),
    pipeline.discord.fault({ fault: { kind: 'lost' }, method: 'POST', path: MESSAGES, times: 1 }),
    pipeline.discord.fault({ fault: page, method: 'POST', path: MESSAGES, times: 1 }),
    pipeline.discord.fault({ fault: page, method: 'GET', path: MESSAGES, times: 1 }),
  ];
  await pipeline.pay(1);
  await pipeline.turnUntilSettled();
  expect([pipeline.numbers(ALERTS), ...faults.map(({ hits }) => hits)]).toEqual([['1'], 1, 1, 1, 1]);
});

it('posts another server’s alert between those of a server with very many channels that are new to the process', async () => {
  const many = Array.from({ length: 90 }, (_, n) => {
    return pipeline.discord.act({ do: 'channel.create', guildId: HARBOR, name: `many-${n}` }).id!;
  });
  for (const channel of many) await pipeline.watch(TREASURY, channel);
  const { alerts, id: guildId } = seed.orchid;
  await pipeline.watch(USDC, alerts, { guildId });
  const postedIn = () =>
    [...pipeline.discord.requests()].flatMap(({ path }) => /channels\/(\d+)\/messages/.exec(path)?.[1] ?? []);
  // Two alerts for each channel, so that they would come before a single one elsewhere.
  for (let n = 1; n <= 2; n++) await pipeline.pay(n, { tokenAddress: null, tokenType: 'ETH' });
  await pipeline.idle();
  const perSecond = 40;
  expect(postedIn()).toHaveLength(perSecond);
  await pipeline.receive(payment({ from: `0x${'9'.repeat(40)}`, to: ALICE }));
  await pipeline.turnUntilSettled();
  expect(postedIn().slice(perSecond, 2 * perSecond)).toContain(alerts);
});

it.each([
  ['recording that it is open fails once', 'setState', false],
  ['recording the accepted message fails once', 'markSent', false],
  ['the process is killed before it recorded the accepted message', 'markSent', true],
] as const)('posts at once and nothing twice in a channel that opened, although %s', async (_, method, isKilled) => {
  let failures = 0;
  let isFailing = false;
  const fails = (name: typeof method) => isFailing && name === method;
  const fail = async (): Promise<never> => {
    failures++;
    isFailing = isKilled;
    throw new StoreError('disk full', 'SQLITE_FULL');
  };
  await usePipeline({
    store: ({ channels, outbox }) => ({
      channels: { setState: (...to) => (fails('setState') ? fail() : channels.setState(...to)) },
      outbox: { markSent: (...of) => (fails('markSent') ? fail() : outbox.markSent(...of)) },
    }),
  });
  await pipeline.watch(TREASURY, ALERTS);
  pipeline.discord.act({ do: 'channel.forbid', channelId: ALERTS });
  await pipeline.pay(1);
  await pipeline.pass(2 * HOUR, 5 * MINUTE);
  pipeline.discord.act({ do: 'channel.allow', channelId: ALERTS });
  isFailing = true;
  pipeline.deliverer.guildChanged(HARBOR);
  await pipeline.turnUntil('recording it fails', () => failures > 0);
  if (isKilled) {
    await pipeline.restart();
    isFailing = false;
  }
  await pipeline.turnUntilSettled();
  // Until the channel has nothing to send and is forgotten.
  await pipeline.pass(5 * SECOND);
  await pipeline.pay(2);
  await pipeline.untilShown(ALERTS, 2, 60);
  expect(pipeline.numbers(ALERTS)).toEqual(['1', '2']);
  expect(await blocked()).toEqual([]);
});

it('posts within five seconds what an earlier process left, although the first looks into the database fail', async () => {
  let failing = 0;
  await usePipeline({
    store: ({ outbox }) => ({
      outbox: {
        channelsWithWork: () =>
          failing-- > 0 ? Promise.reject(new StoreError('locked', 'SQLITE_BUSY')) : outbox.channelsWithWork(),
      },
    }),
  });
  await pipeline.watch(TREASURY, ALERTS);
  pipeline.discord.fault({ fault: { kind: 'error', status: 500 }, path: MESSAGES, times: 1 });
  await pipeline.pay(1);
  await pipeline.turnUntil('Discord refused it once', () => posts(ALERTS).length === 1);
  failing = 3;
  await pipeline.restart();
  await pipeline.untilShown(ALERTS, 1, 5);
  expect(pipeline.numbers(ALERTS)).toEqual(['1']);
});

it('dead-letters an alert that Discord refuses in every form, posts the others, and posts it at a replay', async () => {
  pipeline.discord.fault({ fault: { kind: 'error', status: 500 }, path: MESSAGES, times: 1 });
  await pipeline.pay(1);
  await pipeline.turnUntil('the bot tries once to post in #alerts', () => posts(ALERTS).length === 1);
  // One more than are posted one by one: they become a digest.
  const others = Array.from({ length: 50 }, (_, n) => n + 3);
  for (const n of [2, ...others]) await pipeline.pay(n);
  await pipeline.routed();
  // Refuses each message of the search: the digest, then 5, 3 and 2 alerts, the single alert, and that as plain text.
  pipeline.discord.fault({ fault: REFUSED, method: 'POST', path: MESSAGES, skip: 1, times: 6 });
  await pipeline.turnUntil('there is 1 dead letter', async () => (await pipeline.backlog()).deadLetters === 1);
  await pipeline.untilShown(ALERTS, 51);
  expect(pipeline.numbers(ALERTS)).toEqual(['1', ...others.map(String)]);
  expect((await pipeline.store.deadLetters.list(10))[0]!.reason).toContain('50035');
  await pipeline.replay();
  await pipeline.restart();
  await pipeline.untilShown(ALERTS, 52);
  expect(pipeline.numbers(ALERTS).at(-1)).toBe('2');
});
