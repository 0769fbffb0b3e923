import { describe, expect, it } from 'vitest';
import { HOUR, SECOND } from '../../src/domain/clock.ts';
import { shownIn, textOf } from '../discord/shown.ts';
import { ALERTS, ALICE, COIN, GENERAL, HARBOR, payment, ROLE, TREASURY, WHALES } from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest } from '../pipeline/per-test.ts';

pipelineForEachTest();

/** A worthless token that anybody can send: one of 40. Each costs a stranger a log of a transaction. */
const dust = (n: number, change: object = {}) => {
  const tokenAddress = `0x${(n % 40).toString(16).padStart(40, 'f')}`;
  return payment({ tokenAddress, tokenSymbol: `SPAM${n % 40}`, tokenName: 'Spam', ...change });
};
const paymentOut = (coins: number) =>
  payment({ ...COIN, from: TREASURY, to: ALICE, value: `${coins}${'0'.repeat(18)}`, direction: 'outgoing' });
/** Receives events, and lets the bot post what they lead to. */
async function post(...events: object[]): Promise<void> {
  for (const event of events) await pipeline.receive(event);
  await pipeline.idle();
}
const messages = () => pipeline.discord.messages(ALERTS).map(({ message }) => message);
const messageOf = (coins: number) => messages().find((message) => textOf(message).includes(`−${coins} ETH`));

it('posts each payment out of a flood of worthless tokens by itself within two seconds, and pings for it (1,200 transfers of 40 tokens in 15 s)', async () => {
  await pipeline.watch(TREASURY, ALERTS, { mention: ROLE, mentionCooldown: 0 });
  const payments = [111, 222, 333];
  let sent = 0;
  for (let half = 0; half < 30; half++) {
    await pipeline.storeTogether(Array.from({ length: 40 }, () => dust(sent++)));
    const coins = half % 10 === 5 ? payments[Math.floor(half / 10)]! : null;
    if (coins !== null) await pipeline.receive(paymentOut(coins));
    await pipeline.pass(SECOND / 2);
    // Gathering takes half a second; one message may be in flight.
    const due = payments[Math.floor((half - 8) / 10)];
    if (half % 10 === 8) expect(messageOf(due!), `${due} coins`).toBeDefined();
  }
  await pipeline.turnUntilSettled();
  for (const coins of payments) {
    const message = messageOf(coins)!;
    expect(shownIn(message)).toHaveLength(1);
    expect(textOf(message)).toContain(`<@&${ROLE}>`);
  }
  expect(messages().filter((message) => textOf(message).includes(`<@&${ROLE}>`))).toHaveLength(3);
});

it('posts a payment out by itself although worthless tokens of its transaction were posted before it (1 transaction)', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  const spam = dust(1);
  await post(spam);
  await post({ ...paymentOut(777), txHash: spam.txHash });
  expect(messages()).toHaveLength(2);
  expect(textOf(messages()[1]!)).toContain('−777 ETH');
  // Its like joins the message in which it is shown last.
  await post(dust(2, { txHash: spam.txHash }));
  expect(messages()).toHaveLength(2);
});

it('shows a transaction in three messages, in whatever order its dust, copies and payments out arrive (1 transaction)', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  const { txHash } = dust(0);
  const copy = async (digit: string) => {
    const address = `0x${digit.repeat(40)}` as const;
    await pipeline.store.labels.set(HARBOR, { address, name: `Known ${digit}`, createdBy: '1', at: 0 }, 1_000);
    const from = `${address.slice(0, 6)}${'7'.repeat(32)}${address.slice(-4)}`;
    await post({ ...paymentOut(1), txHash, from, to: TREASURY, direction: 'incoming' });
  };
  await post(dust(1, { txHash }));
  await copy('3');
  await post({ ...paymentOut(111), txHash });
  await copy('4');
  await post({ ...paymentOut(222), txHash }, dust(2, { txHash }));
  expect(messages().map(({ embeds }) => embeds.length)).toEqual([0, 1, 0]);
  expect(textOf(messages()[2]!)).toMatch(/−111 ETH.*−222 ETH/);
});

it('pings for a payment out although an incoming coin that the subscription asks for just pinged', async () => {
  await pipeline.watch(TREASURY, ALERTS, { mention: ROLE, kind: 'native', mentionCooldown: 60 });
  await post({ ...paymentOut(5), from: ALICE, to: TREASURY, direction: 'incoming' });
  await post(paymentOut(555));
  expect(messages().map((message) => textOf(message).includes(`<@&${ROLE}>`))).toEqual([true, true]);
});

it('shows a card for an address that is copied once an hour, and a line for what repeats, however many copy it (one transaction each)', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  await pipeline.store.labels.set(HARBOR, { address: ALICE, name: 'Alice', createdBy: '1', at: 0 }, 1_000);
  const poisoned = async (digit: string) => {
    const poison = `0x2222${digit.repeat(32)}2222`;
    await post({ ...paymentOut(1), from: poison, to: TREASURY, direction: 'incoming' });
  };
  await poisoned('7');
  await poisoned('8');
  await pipeline.pass(HOUR, HOUR);
  await poisoned('7');
  expect(messages().map(({ embeds }) => embeds.length)).toEqual([1, 0, 1]);
  expect(textOf(messages()[1]!)).toContain('Flagged again');
});

describe('quiet hours and digests', () => {
  const QUIET = { quiet: '00:00-23:59', mention: ROLE };

  it('hold what comes in, but post what leaves at once, without a ping in quiet hours', async () => {
    await pipeline.watch(TREASURY, ALERTS, QUIET);
    await post(dust(1), paymentOut(111));
    expect(messages()).toHaveLength(1);
    expect(messageOf(111)).toBeDefined();
    expect(textOf(messages()[0]!)).not.toContain(ROLE);
    expect((await pipeline.backlog()).alerts).toMatchObject({ held: 1 });
  });

  it('hold what leaves, too, if the subscription says so', async () => {
    await pipeline.watch(TREASURY, ALERTS, { digest: 'hourly', holdAll: true });
    await post(paymentOut(111));
    expect(messages()).toEqual([]);
    await pipeline.pass(HOUR, HOUR);
    expect(messageOf(111)).toBeDefined();
  });

  it.each([
    ['no longer hold what leaves', { holdAll: false }, ['111']],
    ['are turned off', { digest: null }, ['111', '5']],
  ] as const)('post what they held once they %s', async (_how, change, amounts) => {
    const id = Number(await pipeline.watch(TREASURY, ALERTS, { digest: 'daily', holdAll: true }));
    await pipeline.watch(TREASURY, WHALES, { digest: 'daily', holdAll: true });
    await post(paymentOut(111), { ...paymentOut(5), from: ALICE, to: TREASURY });
    await pipeline.store.subscriptions.change(HARBOR, id, { channelId: GENERAL });
    await pipeline.store.subscriptions.change(HARBOR, id, change);
    await pipeline.deliverer.rescan();
    await pipeline.idle();
    expect(messages().map(textOf).join()).toMatch(new RegExp(amounts.map((one) => `[+−]${one} `).join('.*'), 's'));
    expect((await pipeline.backlog()).alerts).toMatchObject({ held: 4 - amounts.length });
  });

  it('ping nobody who is in them, whatever lets an alert pass', async () => {
    const id = await pipeline.watch(TREASURY, ALERTS, { ...QUIET, holdAll: true, minimum: '1' });
    await post(paymentOut(111), { ...paymentOut(5), from: ALICE, to: TREASURY });
    await pipeline.store.subscriptions.change(HARBOR, id, { holdAll: false });
    await pipeline.deliverer.rescan();
    await pipeline.idle();
    expect((await pipeline.backlog()).alerts).toMatchObject({ held: 1 });
    await pipeline.watch(ALICE, ALERTS);
    await post({ ...paymentOut(6), from: ALICE, to: TREASURY });
    expect(messages().map(textOf)).toEqual([expect.stringContaining('−111 ETH'), expect.stringContaining('6 ETH')]);
    expect(messages().map(textOf).join()).not.toContain(ROLE);
  });

  it('do not apply to a muted coin that leaves', async () => {
    await pipeline.watch(TREASURY, ALERTS);
    await pipeline.store.subscriptions.muteToken(HARBOR, 'native', pipeline.clock.now() + HOUR);
    await post(paymentOut(111), { ...paymentOut(5), from: ALICE, to: TREASURY });
    expect(messages()).toHaveLength(1);
    expect(messageOf(111)).toBeDefined();
  });
});
