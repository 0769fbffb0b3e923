import { request } from 'undici';
import { beforeEach, describe, expect, it } from 'vitest';
import { GATHER_MS } from '../../src/delivery/schedule.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/clock.ts';
import {
  ALERTS,
  ALICE,
  HARBOR,
  MESSAGES,
  OTHER_BLOCK,
  payment,
  REFUSED,
  ROLE,
  TREASURY,
  USDC,
} from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest, usePipeline } from '../pipeline/per-test.ts';
import { until } from '../until.ts';

pipelineForEachTest();

const messages = () => pipeline.discord.messages(ALERTS).map(({ message }) => message);
const titles = () => pipeline.alerts(ALERTS).map(({ title }) => title);
const changes = () => pipeline.discord.requests().filter(({ method }) => method === 'PATCH').length;
const event = payment({ value: '7000000' });
const again = (change: object = {}) => pipeline.receive({ ...event, ...change });

const settle = async (change?: object) => {
  await again(change);
  await pipeline.turnUntilSettled();
};

/** Receives `event` and this many others for a digest that is due in three seconds. */
async function gather(others: number, mention: string | null = null): Promise<void> {
  await pipeline.watch(TREASURY, ALERTS, { digest: 'hourly', mention, token: USDC });
  await pipeline.pass(HOUR - 3 * SECOND, HOUR);
  await again();
  await pipeline.storeTogether(Array.from({ length: others }, () => payment()));
  await pipeline.routed();
}
async function digest(others = 2, mention: string | null = null): Promise<void> {
  await gather(others, mention);
  await pipeline.pass(4 * SECOND);
  expect(titles()).toEqual([`🗂️ Digest · ${others + 1} transfers`]);
}
/** The columns of each row in the digest's only file; a row is a transfer. */
async function rows(): Promise<string[][]> {
  const files = messages().flatMap(({ attachments }) => attachments);
  expect(files).toHaveLength(1);
  const text = await (await request(files[0]!.url)).body.text();
  return text
    .split('\r\n')
    .slice(1)
    .map((row) => row.split(','));
}

describe('an equal transfer of one in a digest', () => {
  it('counts an equal transfer in the digest that has the first one, without mentioning anybody again', async () => {
    await digest(2, ROLE);
    await settle();
    expect(titles()).toEqual(['🗂️ Digest · 4 transfers']);
    expect(pipeline.alerts(ALERTS)[0]!.text).toMatch(/\+7 \[?`USDC`[^×]*×2/);
    expect(messages()[0]).toMatchObject({ content: expect.stringContaining(`<@&${ROLE}>`) });
  });

  it('counts an equal transfer in a digest’s file, which replaces the old one', async () => {
    await digest(600);
    const order = (await rows()).map((row) => row[1]);
    await settle();
    expect(titles()).toEqual(['🗂️ Digest · 602 transfers']);
    const counts = Map.groupBy(await rows(), (row) => row[10]);
    expect([counts.get('1')?.length, counts.get('2')?.map((row) => row[1])]).toEqual([600, [event.txHash]]);
    expect((await rows()).map((row) => row[1])).toEqual(order);
    // Another block changes nothing but the file.
    pipeline.clock.advance(MINUTE);
    await settle(OTHER_BLOCK);
    expect(titles()).toEqual(['🗂️ Digest · 602 transfers']);
    expect((await rows()).filter((row) => row[2] === '777777').map((row) => row[1])).toEqual([event.txHash]);
  });

  it('counts an equal transfer that arrives before its digest is posted', async () => {
    await gather(2);
    const outage = pipeline.discord.fault({ fault: { kind: 'error', status: 503 }, path: MESSAGES });
    await pipeline.pass(4 * SECOND);
    await again();
    await pipeline.routed();
    await pipeline.restart();
    outage.clear();
    await pipeline.turnUntilSettled();
    expect(titles()).toEqual(['🗂️ Digest · 4 transfers']);
  });

  it.each([
    ['a lost response', { kind: 'lost' }],
    ['429', { kind: 'rate-limit', retryAfterMs: 3_000 }],
  ] as const)('counts several equal transfers in one edit despite %s and a restart', async (_, fault) => {
    await digest();
    const active = pipeline.discord.fault({ fault, method: 'PATCH', path: '/channels/**' });
    for (let n = 0; n < 5; n++) {
      await again();
      await pipeline.idle();
    }
    await pipeline.restart();
    active.clear();
    const before = changes();
    await pipeline.turnUntilSettled();
    expect(titles()).toEqual(['🗂️ Digest · 8 transfers']);
    expect(changes() - before).toBeLessThanOrEqual(2);
  });

  it('edits nothing and dead-letters nothing when the message is gone', async () => {
    await digest();
    pipeline.discord.act({ do: 'message.delete', messageId: messages()[0]!.id });
    await settle();
    expect([titles(), changes()]).toEqual([[], 1]);
    expect((await pipeline.backlog()).deadLetters).toBe(0);
  });

  it('dead-letters an edit that Discord refuses, and makes up for it at a replay or the next equal transfer', async () => {
    await digest();
    const letters = () => pipeline.store.deadLetters.list(10);
    const refuse = async () => {
      const fault = pipeline.discord.fault({ fault: REFUSED, method: 'PATCH' });
      await settle();
      fault.clear();
    };
    await refuse();
    await refuse();
    expect(titles()).toEqual(['🗂️ Digest · 3 transfers']);
    expect(await letters()).toMatchObject([{ channelId: ALERTS, kind: 'change' }]);
    await pipeline.replay();
    expect(await letters()).toEqual([]);
    await pipeline.deliverer.rescan();
    await pipeline.turnUntilSettled();
    expect(titles()).toEqual(['🗂️ Digest · 5 transfers']);
    await refuse();
    expect(await letters()).toHaveLength(1);
    await settle();
    expect([titles(), await letters()]).toEqual([['🗂️ Digest · 7 transfers'], []]);
  });

  it('dead-letters an edit whose channel stays blocked for a week', async () => {
    await digest();
    pipeline.discord.act({ do: 'channel.forbid', channelId: ALERTS });
    await again();
    await pipeline.turnUntil('1 channel is parked', async () => (await pipeline.backlog()).channels.parked === 1);
    await pipeline.pass(8 * DAY, 6 * HOUR);
    await pipeline.turnUntil('there is 1 dead letter', async () => (await pipeline.backlog()).deadLetters === 1);
    expect(await pipeline.store.deadLetters.list(1)).toMatchObject([{ channelId: ALERTS, kind: 'change' }]);
  });

  it('never edits a digest to a smaller count after some of its transfers were deleted', async () => {
    await pipeline.watch(TREASURY, ALERTS, { digest: 'hourly' });
    await pipeline.pass(HOUR - 3 * SECOND, HOUR);
    await pipeline.receive(payment());
    await pipeline.routed();
    pipeline.clock.advance(SECOND);
    const between = pipeline.clock.now();
    pipeline.clock.advance(SECOND);
    await again();
    await pipeline.pass(4 * SECOND);
    await pipeline.prune(pipeline.clock.now() - between);
    await settle(OTHER_BLOCK);
    expect([titles(), changes()]).toEqual([['🗂️ Digest · 2 transfers'], 0]);
  });
});

describe('an equal transfer of one in a single alert', () => {
  beforeEach(() => pipeline.watch(TREASURY, ALERTS));
  const refuse = (times: number) => pipeline.discord.fault({ fault: REFUSED, method: 'POST', path: MESSAGES, times });

  it('counts an equal transfer in a plain-text alert, and gives other alerts of its transaction their own message', async () => {
    refuse(1);
    await settle();
    expect(messages()).toMatchObject([{ content: expect.not.stringContaining('2 identical transfers') }]);
    await settle();
    expect(messages()).toMatchObject([{ content: expect.stringContaining('2 identical transfers'), embeds: [] }]);
    await settle({ value: '8000000' });
    expect(messages().map(({ content }) => content.includes('2 identical transfers'))).toEqual([true, false]);
  });

  it('counts an equal transfer whose alert joined the message of its transaction', async () => {
    await settle({ value: '1000000', from: ALICE });
    await settle();
    await settle();
    expect(messages()).toHaveLength(1);
    expect(pipeline.alerts(ALERTS)[0]!.text).toMatch(/7 \[?`USDC`.*×2/);
  });

  it('counts an equal transfer in the message that the replay of a dead letter posts', async () => {
    refuse(2);
    await again();
    await pipeline.turnUntil('there is 1 dead letter', async () => (await pipeline.backlog()).deadLetters === 1);
    await settle();
    await pipeline.replay();
    await pipeline.restart();
    await pipeline.turnUntilSettled();
    expect(pipeline.alerts(ALERTS)).toMatchObject([{ text: expect.stringContaining('×2') }]);
  });

  it('counts equal transfers once a blocked channel opens, in posted and in waiting alerts', async () => {
    const waiting = payment({ value: '8000000' });
    await settle();
    pipeline.discord.act({ do: 'channel.forbid', channelId: ALERTS });
    for (const body of [event, waiting, waiting]) await pipeline.receive(body);
    await pipeline.turnUntil('1 channel is parked', async () => (await pipeline.backlog()).channels.parked === 1);
    pipeline.discord.act({ do: 'channel.allow', channelId: ALERTS });
    await pipeline.turnUntilSettled();
    expect(titles().map((title) => /\+(\d+ `USDC`) .*(×\d)/.exec(title)?.slice(1))).toEqual([
      ['7 `USDC`', '×2'],
      ['8 `USDC`', '×2'],
    ]);
  });
});

describe('an edit of a sent message', () => {
  it.each([
    ['that Discord rate-limits', { kind: 'rate-limit', retryAfterMs: MINUTE }],
    ['that fails', { kind: 'error', status: 503 }],
  ] as const)('makes an edit %s later without delaying new alerts', async (_, fault) => {
    await pipeline.watch(TREASURY, ALERTS);
    await settle();
    const active = pipeline.discord.fault({ fault, method: 'PATCH', path: '/channels/**' });
    await again();
    await pipeline.turnUntil('1 change is requested', () => changes() === 1);
    active.clear();
    const now = pipeline.clock.now();
    await pipeline.receive(payment());
    await pipeline.turnUntil('#alerts has 2 messages', () => messages().length === 2);
    expect(pipeline.clock.now() - now).toBeLessThan(SECOND);
    await pipeline.turnUntilSettled();
    expect([changes(), titles()[0]]).toEqual([2, expect.stringContaining('×2')]);
    expect(pipeline.clock.now() - now).toBeGreaterThanOrEqual(SECOND);
  });

  it('makes an edit that is requested while another one is in flight after it', async () => {
    const held = Promise.withResolvers<void>();
    await usePipeline({
      sender: (real) => ({
        ...real,
        edit: async (...change) => {
          const outcome = await real.edit(...change);
          await held.promise;
          return outcome;
        },
      }),
    });
    await pipeline.watch(TREASURY, ALERTS);
    await settle();
    await again();
    await pipeline.routed();
    pipeline.clock.advance(GATHER_MS);
    await until('the first edit is made', () => titles()[0]!.includes('×2'));
    await again();
    await pipeline.routed();
    held.resolve();
    await pipeline.turnUntilSettled();
    expect([titles()[0], changes()]).toEqual([expect.stringContaining('×3'), 2]);
  });

  it('dead-letters an edit that does not fit into its message', async () => {
    await usePipeline({ environment: { EXPLORER_URL: '' } });
    await pipeline.store.guilds.changeSettings(HARBOR, { style: 'full' });
    await pipeline.watch(TREASURY, ALERTS);
    const { txHash } = payment();
    const payouts = Array.from({ length: 25 }, (_, n) =>
      payment({ txHash, from: TREASURY, to: `0x${(n + 1).toString(16).padStart(40, 'a')}`, direction: 'outgoing' }),
    );
    for (const payout of payouts) await pipeline.receive(payout);
    await pipeline.turnUntilSettled(5);
    for (const payout of payouts) await pipeline.receive(payout);
    await pipeline.turnUntilSettled(60);
    expect((await pipeline.store.deadLetters.list(10))[0]).toMatchObject({
      channelId: ALERTS,
      kind: 'change',
      reason: expect.stringContaining('do not fit'),
    });
  });
});
