import { beforeEach, describe, expect, it } from 'vitest';
import { seed } from '../../sandbox/discord/index.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/clock.ts';
import { ALERTS, HARBOR, payment, TREASURY, WHALES } from './harness.ts';
import { pipeline, pipelineForEachTest } from './per-test.ts';
import { NOTHING_WAITS } from './time.ts';

pipelineForEachTest(ALERTS);

const states = async () => (await pipeline.store.channels.blocked(HARBOR)).map((channel) => channel.state);
const letters = () => pipeline.store.deadLetters.list(100);
/** The alerts in both channels, and the states of the blocked ones, which another thread records. */
const expectShown = (alerts: string[], whales: string[], blocked: string[]) =>
  expect
    .poll(async () => [pipeline.numbers(ALERTS), pipeline.numbers(WHALES), await states()], { timeout: 60_000 })
    .toEqual([alerts, whales, blocked]);
/** Lets time pass until there is a dead letter, for at most eight days: no alert waits for longer than a week here. */
async function untilDead(step: number): Promise<void> {
  for (let hour = 0; hour < 8 * 24 && (await letters()).length === 0; hour++) await pipeline.pass(HOUR, step);
  expect(await letters()).not.toEqual([]);
}
/** When requests for messages in #alerts were made, posts and searches, counted from the first one. */
function tries(unit: number): number[] {
  const at = pipeline.discord
    .requests()
    .filter(({ path }) => path.startsWith(`/channels/${ALERTS}/messages`))
    .map((request) => Date.parse(request.at));
  // Alerts gather for half a second before the first one.
  return at.map((time) => Math.round((time - at[0]!) / unit));
}

describe('a channel without permissions', () => {
  beforeEach(async () => {
    pipeline.discord.act({ do: 'channel.forbid', channelId: ALERTS });
    await pipeline.payAndWait(1);
    await expectShown([], [], ['parked']);
  });

  it('retries a parked channel after 15 minutes, an hour, and every six hours, whatever arrives', async () => {
    await pipeline.pay(2);
    await pipeline.pass(20 * HOUR, MINUTE);
    expect(tries(MINUTE)).toEqual([0, 15, 75, 435, 795, 1155]);
    expect(await letters()).toEqual([]);
  });

  it('retries a parked channel at once when its permissions change, also after a restart', async () => {
    await pipeline.restart();
    pipeline.discord.act({ do: 'channel.allow', channelId: ALERTS });
    pipeline.deliverer.guildChanged('another server');
    await pipeline.idle();
    expect(pipeline.numbers(ALERTS)).toEqual([]);
    await pipeline.reopen(ALERTS);
    await expectShown(['1'], [], []);
  });

  it('keeps a parked channel’s alerts for seven days each, then dead-letters them', async () => {
    await pipeline.pass(5 * DAY, HOUR);
    await pipeline.pay(2);
    await pipeline.pass(DAY, HOUR);
    expect(await letters()).toEqual([]);
    await pipeline.pass(DAY + 7 * HOUR, HOUR);
    expect((await letters()).map(({ channelId, reason }) => [channelId, reason])).toEqual([
      [ALERTS, 'missing permissions (50001) for too long'],
    ]);
    await pipeline.reopen(ALERTS);
    expect(pipeline.numbers(ALERTS)).toEqual(['2']);
    // A dead letter is posted as soon as somebody replays it.
    await pipeline.replay();
    pipeline.deliverer.wake([{ channelId: ALERTS, guildId: HARBOR }]);
    await pipeline.idle();
    expect(pipeline.numbers(ALERTS)).toEqual(['2', '1']);
  });

  it('retries a parked channel at once when a dead letter is replayed, even while the bot is stopped', async () => {
    await pipeline.pass(7 * DAY, HOUR);
    await untilDead(HOUR);
    pipeline.discord.act({ do: 'channel.allow', channelId: ALERTS });
    await pipeline.replay();
    await pipeline.restart();
    await pipeline.idle();
    expect(pipeline.numbers(ALERTS)).toEqual(['1']);
  });
});

describe('a channel or server that is gone', () => {
  it('keeps the alerts of a deleted channel for thirty days each, then dead-letters them, and keeps its subscriptions', async () => {
    pipeline.discord.act({ do: 'channel.delete', channelId: ALERTS });
    await pipeline.payAndWait(1);
    // The next alert waits without an attempt.
    await pipeline.pay(2);
    await pipeline.pass(29 * DAY, 6 * HOUR);
    await expectShown([], [], ['unreachable']);
    expect(await letters()).toEqual([]);
    await pipeline.pass(2 * DAY, 6 * HOUR);
    const reason = 'channel or server is gone (10003) for too long';
    expect((await letters()).map((letter) => letter.reason)).toEqual([reason, reason]);
    expect(await pipeline.backlog()).toMatchObject(NOTHING_WAITS);
    expect(await pipeline.store.subscriptions.list(HARBOR)).toHaveLength(1);
  });

  it('posts in a server that removed the bot as soon as Discord accepts a message there again', async () => {
    pipeline.deliverer.guildRemoved(HARBOR);
    await pipeline.pay(1);
    await pipeline.pass(15 * MINUTE + SECOND);
    expect(pipeline.numbers(ALERTS)).toEqual(['1']);
    await pipeline.payAndWait(2);
    await expectShown(['1', '2'], [], []);
  });

  it('sends nothing to a server that is known to have removed the bot, across restarts, until the bot is back', async () => {
    await pipeline.pay(1);
    await pipeline.untilShown(ALERTS, 1);
    pipeline.deliverer.guildRemoved(HARBOR);
    pipeline.discord.act({ do: 'guild.remove', guildId: HARBOR });
    await pipeline.watch(TREASURY, WHALES);
    await pipeline.payAndWait(2);
    await expectShown(['1'], [], ['unreachable', 'unreachable']);
    await pipeline.pass(2 * DAY, 6 * HOUR);
    await pipeline.restart();
    await pipeline.pass(20 * DAY, 6 * HOUR);
    await expectShown(['1'], [], ['unreachable', 'unreachable']);
    expect(await letters()).toEqual([]);
    pipeline.discord.act({ do: 'guild.add', guildId: HARBOR });
    pipeline.deliverer.guildChanged(HARBOR);
    await pipeline.turnUntilSettled();
    await expectShown(['1', '2'], ['2'], []);
  });
});

it('keeps the alerts of a server that removed the bot while it was stopped for as long as any other’s', async () => {
  pipeline.discord.act({ do: 'guild.remove', guildId: HARBOR });
  await pipeline.restart();
  // One alert is tried before the session begins.
  await pipeline.payAndWait(1);
  await pipeline.deliverer.guildsSynced([], [0, 1]);
  await pipeline.watch(TREASURY, WHALES);
  await pipeline.pay(2);
  await pipeline.pass(20 * DAY, 6 * HOUR);
  await expectShown([], [], ['unreachable', 'unreachable']);
  expect(await letters()).toEqual([]);
  pipeline.discord.act({ do: 'guild.add', guildId: HARBOR });
  await pipeline.deliverer.guildsSynced([HARBOR], [0, 1]);
  await pipeline.idle();
  await expectShown(['1', '2'], ['2'], []);
});

describe('outages of Discord', () => {
  it('retries an unresponsive Discord with growing waits up to a minute for 72 hours, then dead-letters the alert', async () => {
    const fault = pipeline.discord.fault({ fault: { kind: 'error', status: 500 }, channelId: ALERTS });
    await pipeline.pay(1);
    await pipeline.pass(5 * MINUTE);
    const times = tries(SECOND);
    expect(times.slice(1).map((time, n) => time - times[n]!)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    await pipeline.pass(71 * HOUR, 10 * MINUTE);
    expect(await letters()).toEqual([]);
    await pipeline.pass(HOUR + 10 * MINUTE, 10 * MINUTE);
    expect((await letters()).map(({ reason }) => reason)).toEqual(['72 hours: HTTP 500']);
    fault.clear();
    await pipeline.pay(2);
    await pipeline.untilShown(ALERTS, 1);
    expect(pipeline.numbers(ALERTS)).toEqual(['2']);
  });

  it('makes each alert of a digest a dead letter, without a copy of the digest for each', async () => {
    await pipeline.watch(TREASURY, WHALES, { digest: 'hourly' });
    for (let n = 1; n <= 3; n++) await pipeline.pay(n);
    pipeline.discord.fault({ fault: { kind: 'error', status: 500 }, channelId: WHALES });
    await untilDead(10 * MINUTE);
    const dead = { channelId: WHALES, reason: '72 hours: HTTP 500', payload: null };
    expect(await letters()).toMatchObject([dead, dead, dead]);
  });
});

it('deletes a transfer of a server’s own project that concerns no subscription after three days, and no other one', async () => {
  const { alerts: ORCHID_ALERTS, id: ORCHID } = seed.orchid;
  const stranger: AddressText = `0x${'4'.repeat(40)}`;
  const project = { guildId: HARBOR, projectId: 'own', sealed: Buffer.alloc(1) };
  const own = await pipeline.store.projects.save(project, 'path-token-of-the-guild');
  const [old, recent] = [1, 2].map((units) => payment({ to: stranger, value: String(units * 1_000_000) }));
  await pipeline.receive(old!, own);
  await pipeline.receive(old!);
  await pipeline.pass(DAY + 12 * HOUR, HOUR);
  await pipeline.receive(recent!, own);
  await pipeline.pass(2 * DAY + HOUR, HOUR);
  await pipeline.watch(stranger, ALERTS);
  await pipeline.watch(stranger, ORCHID_ALERTS, { guildId: ORCHID });
  for (const body of [old!, recent!]) await pipeline.receive(body, own);
  await pipeline.receive(old!);
  await pipeline.pass(MINUTE);
  expect([pipeline.numbers(ALERTS), pipeline.numbers(ORCHID_ALERTS)]).toEqual([['1'], []]);
});
