import { expect, it } from 'vitest';
import { MINUTE } from '../../src/domain/clock.ts';
import { textOf } from '../discord/shown.ts';
import { MESSAGES, payment, REFUSED, ROLE, TREASURY, USDC, WHALES } from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest } from '../pipeline/per-test.ts';

pipelineForEachTest();

/** The mention in each message, or nothing. */
const mentions = () =>
  pipeline.discord.messages(WHALES).map(({ message }) => /<@&\d+>/.exec(textOf(message))?.[0] ?? '');

it('mentions the role of a subscription and nothing else', async () => {
  await pipeline.watch(TREASURY, WHALES, { mention: ROLE, token: USDC });
  await pipeline.receive(payment({ tokenSymbol: '@everyone <@&1>' }));
  await pipeline.untilShown(WHALES, 1);
  const [text] = pipeline.discord.messages(WHALES).map(({ message }) => textOf(message));
  expect(text).toContain(` <@&${ROLE}>\n`);
  expect(text).not.toContain('everyone');
});

it('mentions a role for amounts from its threshold on, once per cooldown, across restarts', async () => {
  await pipeline.watch(TREASURY, WHALES, { mention: ROLE, token: USDC, mentionMinimum: '100', mentionCooldown: 30 });
  await pipeline.payAndWait(99);
  await pipeline.payAndWait(100);
  await pipeline.payAndWait(500);
  await pipeline.restart();
  await pipeline.pass(20 * MINUTE, MINUTE);
  await pipeline.payAndWait(500);
  await pipeline.pass(10 * MINUTE, MINUTE);
  await pipeline.payAndWait(500);
  expect(mentions().map((mention) => mention !== '')).toEqual([false, true, false, false, true]);
});

it('mentions a role once, even if Discord refuses the first message', async () => {
  await pipeline.watch(TREASURY, WHALES, { mention: ROLE, token: USDC, mentionCooldown: 60 });
  pipeline.discord.fault({ fault: REFUSED, channelId: WHALES, method: 'POST', path: MESSAGES, times: 1 });
  await pipeline.storeTogether([payment(), payment()]);
  await pipeline.pay(3);
  await pipeline.turnUntilSettled();
  const texts = pipeline.discord.messages(WHALES).map(({ message }) => textOf(message));
  expect(texts.filter((text) => text.includes(`<@&${ROLE}>`))).toHaveLength(1);
  expect(texts.length).toBeGreaterThan(1);
  expect(texts.join('\n').match(/📥/gu)).toHaveLength(3);
});
