import { beforeEach, describe, expect, it } from 'vitest';
import { relabel } from '../../src/delivery/relabel.ts';
import { MINUTE, SECOND } from '../../src/domain/clock.ts';
import { plain, shownIn, textOf } from '../discord/shown.ts';
import {
  ALERTS,
  ALICE,
  GENERAL,
  HARBOR,
  MESSAGES,
  type Pipeline,
  payment,
  REFUSED,
  ROLE,
  startPipeline,
  TREASURY,
  WHALES,
} from '../pipeline/harness.ts';

const AMOUNTS = /\b(\d+) `USDC`/g;
const STRANGER = `0x${'9'.repeat(40)}` as const;

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await startPipeline();
  await pipeline.watch(TREASURY, ALERTS);
});

let serial = 0;
const hash = () => `0x${`${++serial}`.padStart(64, 'e')}`;
const receive = (txHash: string, units: number) => pipeline.pay(units, { txHash });
const send = async (txHash: string, units: number) => {
  await receive(txHash, units);
  await pipeline.idle();
};
/** The amounts that each message shows, by transaction. Where several are listed below their sum, the sum is left out. */
const posted = () =>
  pipeline.discord.messages(ALERTS).map(({ message }) =>
    shownIn(message).map(({ text }) => {
      const [title = '', ...lines] = plain(text).split('\n');
      const listed = [...lines.join('\n').matchAll(AMOUNTS)];
      return (listed.length > 0 ? listed : [...title.matchAll(AMOUNTS)])
        .map(([, amount]) => Number(amount))
        .sort((a, b) => a - b);
    }),
  );
const mentionsIn = (channel: string) =>
  pipeline.discord.messages(channel).map(({ message }) => /<@&\d+>/.exec(textOf(message))?.[0] ?? '');
const edits = () => pipeline.discord.requests().filter(({ method }) => method === 'PATCH').length;

describe('alerts of one transaction', () => {
  it('groups the waiting alerts of one transaction into one message, whatever arrived between them', async () => {
    const [first, second, third] = [hash(), hash(), hash()];
    pipeline.discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 2_000 }, path: MESSAGES, times: 1 });
    await receive(first, 1);
    await pipeline.idle();
    for (let n = 2; n <= 12; n++) await receive(n % 2 ? second : hash(), n);
    await receive(third, 13);
    await receive(second, 14);
    await pipeline.routed();
    await pipeline.turnUntilSettled();
    const embeds = posted().flat();
    expect(embeds).toContainEqual([3, 5, 7, 9, 11, 14]);
    expect(embeds.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 14 }, (_, n) => n + 1));
    expect(posted().length).toBeLessThan(4);
  });

  it('retries alerts that join a message as rarely as others while it cannot be edited', async () => {
    const tx = hash();
    await send(tx, 1);
    const outage = pipeline.discord.fault({
      fault: { kind: 'error', status: 503 },
      method: 'PATCH',
      path: '/channels/**',
    });
    await send(tx, 2);
    await pipeline.pass(MINUTE);
    expect(edits()).toBeGreaterThan(3);
    expect(edits()).toBeLessThan(9);
    outage.clear();
    await pipeline.turnUntilSettled();
    expect(posted()).toEqual([[[1, 2]]]);
  });

  it('keeps the count of equal transfers in a message while alerts wait to join it', async () => {
    const others = [WHALES, GENERAL];
    for (const channel of others) await pipeline.watch(TREASURY, channel);
    const tx = hash();
    const event = payment({ txHash: tx, value: '1000000' });
    await pipeline.receive(event);
    await pipeline.idle();
    // Channels get their edits one after the other: some still wait for a slot.
    await pipeline.receive(event);
    await pipeline.idle();
    pipeline.discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: SECOND }, method: 'PATCH', times: 3 });
    await receive(tx, 2);
    await pipeline.idle();
    await pipeline.receive(event);
    await pipeline.turnUntilSettled();
    for (const channel of [ALERTS, ...others]) {
      const [message, ...more] = pipeline.alerts(channel);
      expect(more).toEqual([]);
      expect(message!.text).toContain('×3');
    }
  });

  it('appends later alerts of a transaction to its message', async () => {
    const tx = hash();
    await send(tx, 1);
    await send(hash(), 2);
    await send(tx, 3);
    await send(tx, 4);
    expect(posted()).toEqual([[[1, 3, 4]], [[2]]]);
    expect(edits()).toBe(2);
    expect(await pipeline.settled()).toBe(true);
  });

  it('appends later alerts to their transaction’s message although another transaction’s alert waits ahead of them', async () => {
    const tx = hash();
    await send(tx, 1);
    pipeline.discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 2_000 }, path: MESSAGES, times: 1 });
    await send(hash(), 2);
    await receive(hash(), 3);
    await receive(tx, 4);
    await pipeline.routed();
    await pipeline.turnUntilSettled();
    expect(posted()).toEqual([[[1, 4]], [[2]], [[3]]]);
  });

  it('appends later alerts to their message although earlier ones cannot join theirs', async () => {
    await pipeline.watch(ALICE, ALERTS, { mention: ROLE, mentionCooldown: 0 });
    const [pinging, plain] = [hash(), hash()];
    const quiet = { from: STRANGER };
    await send(pinging, 1);
    await pipeline.pay(2, { txHash: plain, ...quiet });
    await pipeline.idle();
    pipeline.discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 2_000 }, path: MESSAGES, times: 1 });
    await send(hash(), 3);
    // Discord notifies mentioned people of a new message only, so an alert with a mention cannot join one.
    await receive(pinging, 4);
    await pipeline.pay(5, { txHash: plain, ...quiet });
    await pipeline.routed();
    await pipeline.turnUntilSettled();
    expect(posted()).toEqual([[[1]], [[2, 5]], [[3]], [[4]]]);
  });

  it('posts alerts of a transaction that arrive ten minutes later in a message of their own', async () => {
    const tx = hash();
    await send(tx, 1);
    await pipeline.pass(10 * MINUTE);
    await send(tx, 2);
    expect(posted()).toEqual([[[1]], [[2]]]);
  });

  it('posts alerts that mention a role in a message of their own', async () => {
    await pipeline.watch(ALICE, ALERTS, { mention: ROLE, mentionCooldown: 0 });
    const tx = hash();
    await send(tx, 1);
    await send(tx, 2);
    expect(mentionsIn(ALERTS)).toEqual([`<@&${ROLE}>`, `<@&${ROLE}>`]);
  });

  /** Forty transfers of one transaction, from an address each, one after the other. */
  async function sendForty(): Promise<void> {
    const tx = hash();
    for (let n = 1; n <= 40; n++) {
      const from = `0x${n.toString(16).padStart(40, '7')}`;
      await pipeline.pay(n, { txHash: tx, from });
      await pipeline.idle();
      // Requests are spread over the second.
      if (n % 5 === 0) await pipeline.pass(1_000);
    }
  }

  it('sums up the transfers of a large transaction in one compact alert', async () => {
    await sendForty();
    await pipeline.turnUntilSettled();
    expect(pipeline.alerts(ALERTS).map(({ title }) => title)).toEqual(['📥 0x1111…1111 +820 `USDC` in 40 transfers']);
  });

  it('posts alerts that do not fit into their message in a further one, and nothing twice', async () => {
    await pipeline.store.guilds.changeSettings(HARBOR, { style: 'full' });
    await sendForty();
    expect(posted().length).toBeGreaterThan(1);
    // Each message begins with a sum, which is not an alert.
    const amounts = pipeline.discord
      .messages(ALERTS)
      .flatMap(({ message }) =>
        [...plain(JSON.stringify(message.embeds)).matchAll(/📥 (\d+) `USDC`/gu)].map(([, amount]) => Number(amount)),
      );
    expect(amounts.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  });

  it.each([
    ['a lost response', { kind: 'lost' }],
    ['500', { kind: 'error', status: 500 }],
    ['a connection that breaks', { kind: 'reset' }],
    ['429', { kind: 'rate-limit', retryAfterMs: 3_000 }],
  ] as const)('shows each alert of a transaction once after %s and a restart in the middle', async (_, fault) => {
    const tx = hash();
    await send(tx, 1);
    pipeline.discord.fault({ fault, method: 'PATCH', path: '/channels/**', times: 2 });
    await receive(tx, 2);
    await pipeline.idle();
    await receive(tx, 3);
    await pipeline.restart();
    await pipeline.turnUntilSettled();
    expect(posted()).toEqual([[[1, 2, 3]]]);
  });

  it.each([
    ['refused', REFUSED],
    ['held back for minutes', { kind: 'rate-limit', retryAfterMs: 20 * MINUTE }],
    ['too late: the message was deleted', { kind: 'error', status: 404, code: 10008, message: 'Unknown Message' }],
  ] as const)('posts joining alerts in a message of their own when the edit is %s', async (_, fault) => {
    const tx = hash();
    await send(tx, 1);
    pipeline.discord.fault({ fault, method: 'PATCH', path: '/channels/**' });
    await send(tx, 2);
    await send(tx, 3);
    expect(posted()).toEqual([[[1]], [[2]], [[3]]]);
    expect(await pipeline.settled()).toBe(true);
  });
});

describe('a new label', () => {
  const names = (channel: string) => pipeline.alerts(channel).map(({ text }) => text.includes('Mallory'));
  const label = (address = ALICE) =>
    pipeline.store.labels.set(HARBOR, { address, name: 'Mallory', createdBy: '1', at: pipeline.clock.now() }, 100);

  it('shows a new label in the server’s messages of the last day that name the address', async () => {
    await pipeline.watch(TREASURY, WHALES);
    await send(hash(), 1);
    await pipeline.pass(25 * 60 * MINUTE, 60 * MINUTE);
    await send(hash(), 2);
    await pipeline.receive(payment({ from: STRANGER, txHash: hash() }));
    await pipeline.idle();
    await label();
    // A message is edited once, although two requests ask for it.
    const others = [`0x${'8'.repeat(40)}`, ALICE] as const;
    const request = () => relabel(pipeline.store, HARBOR, others, pipeline.clock.now());
    const { channels, ...done } = await request();
    expect(done).toEqual({ messages: 2, isAll: true });
    expect(channels.toSorted()).toEqual([ALERTS, WHALES].sort());
    expect((await request()).channels).toEqual(channels);
    const elsewhere = await relabel(pipeline.store, 'another server', [ALICE], pipeline.clock.now());
    expect(elsewhere).toEqual({ messages: 0, isAll: true, channels: [] });
    const forgotten = [{ channelId: ALERTS, reference: 'FORGOTTEN' }];
    expect(await pipeline.store.outbox.requestRerender(forgotten, pipeline.clock.now())).toEqual([]);
    pipeline.deliverer.wake(channels);
    await pipeline.pass(SECOND);
    expect([ALERTS, WHALES].map(names)).toEqual([
      [false, true, false],
      [false, true, false],
    ]);
    expect(edits()).toBe(2);
  });

  it('shows a new label in an alert that was rendered before and is sent later', async () => {
    pipeline.discord.fault({ fault: { kind: 'error', status: 500 }, path: MESSAGES, times: 1 });
    await send(hash(), 1);
    await label();
    const { channels, ...done } = await relabel(pipeline.store, HARBOR, [ALICE], pipeline.clock.now());
    expect(done).toEqual({ messages: 1, isAll: true });
    expect(names(ALERTS)).toEqual([]);
    pipeline.deliverer.wake(channels);
    await pipeline.turnUntilSettled();
    expect(names(ALERTS)).toEqual([true]);
  });

  it('leaves half of the requests to new alerts while messages are edited for a new label', async () => {
    const { discord, clock } = pipeline;
    const channels = Array.from({ length: 60 }, (_, n) => {
      return discord.act({ do: 'channel.create', guildId: HARBOR, name: `many-${n}` }).id!;
    });
    for (const channel of channels) await pipeline.watch(ALICE, channel);
    for (const n of [1, 2]) {
      await receive(hash(), n);
      await pipeline.turnUntilSettled();
    }
    await pipeline.pass(SECOND);
    await label();
    const labeledAt = clock.now();
    pipeline.deliverer.wake((await relabel(pipeline.store, HARBOR, [ALICE], labeledAt)).channels);
    await pipeline.pass(SECOND / 2, 10);
    // One edit every 50 ms, even if a channel has several.
    expect(edits()).toBeGreaterThanOrEqual(8);
    expect(edits()).toBeLessThanOrEqual(11);
    for (const channel of channels.slice(0, 10)) await pipeline.watch(STRANGER, channel);
    await pipeline.receive(payment({ from: STRANGER, txHash: hash() }));
    await pipeline.idle();
    expect(channels.filter((channel) => pipeline.alerts(channel).length === 3)).toEqual(channels.slice(0, 10));
    await pipeline.turnUntilSettled();
    expect(edits()).toBe(122);
    expect(clock.now() - labeledAt).toBeLessThan(9 * SECOND);
  });

  it('posts new alerts before it edits messages for a new label, also after a restart', async () => {
    for (let n = 1; n <= 5; n++) await send(hash(), n);
    await label();
    await relabel(pipeline.store, HARBOR, [ALICE], pipeline.clock.now());
    const before = pipeline.discord.requests().at(-1)!.number;
    await receive(hash(), 6);
    await pipeline.routed();
    await pipeline.restart();
    await pipeline.turnUntilSettled();
    const made = pipeline.discord.requests(before).map(({ method }) => method);
    expect(made.filter((method) => method === 'PATCH').length).toBeGreaterThanOrEqual(5);
    expect(made.lastIndexOf('POST')).toBeLessThan(made.indexOf('PATCH'));
    expect(names(ALERTS)).toEqual(Array(6).fill(true));
  });
});

describe('the mention of a role', () => {
  it('mentions a role for amounts from its threshold on, once per cool-down, across restarts', async () => {
    await pipeline.watch(TREASURY, WHALES, { mention: ROLE, mentionMinimum: '100', mentionCooldown: 30 });
    const mentions = () => mentionsIn(WHALES).map((mention) => mention !== '');
    await send(hash(), 99);
    await send(hash(), 100);
    await send(hash(), 500);
    await pipeline.restart();
    await pipeline.pass(20 * MINUTE, MINUTE);
    await send(hash(), 500);
    await pipeline.pass(10 * MINUTE, MINUTE);
    await send(hash(), 500);
    expect(mentions()).toEqual([false, true, false, false, true]);
  });

  it('mentions a role in the message that replaces a refused one', async () => {
    await pipeline.watch(ALICE, WHALES, { mention: ROLE });
    pipeline.discord.fault({ fault: REFUSED, channelId: WHALES, method: 'POST', path: MESSAGES, times: 1 });
    pipeline.discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 2_000 }, path: MESSAGES, times: 2 });
    for (const n of [1, 2]) await receive(hash(), n);
    await pipeline.routed();
    await pipeline.turnUntilSettled();
    expect(mentionsIn(WHALES)).toContain(`<@&${ROLE}>`);
  });
});

it('reads alerts that join a message again if another equal transfer was counted since they were read', async () => {
  const txHash = hash();
  const [first, second] = [payment({ txHash, value: '1000000' }), payment({ txHash, value: '2000000' })];
  await pipeline.receive(first);
  await pipeline.turnUntilSettled();
  await pipeline.deliverer.close();
  const receive = async (event: object) => {
    await pipeline.receive(event);
    await pipeline.routed();
  };
  const now = pipeline.clock.now();
  const claimed = async () => {
    const take = { limit: 10, alone: false, mayChange: false };
    const { next } = await pipeline.store.outbox.claim(ALERTS, take, now);
    if (next.status !== 'alerts' || next.joins.length === 0) throw new Error(next.status);
    return () => pipeline.store.outbox.join(ALERTS, next.joins[0]!, next.alerts, '{}', now);
  };
  await receive(second);
  for (const body of [second, first]) {
    const join = await claimed();
    await receive(body);
    expect(await join()).toBeNull();
  }
  const join = await claimed();
  expect(await join()).toEqual(expect.any(Number));
  // Alerts that join a message cannot join another one.
  expect(await join()).toBeNull();
});
