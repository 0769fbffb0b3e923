import { describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/clock.ts';
import { ALERTS, HARBOR, MESSAGES, payment, TREASURY, WHALES } from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest } from '../pipeline/per-test.ts';

const JUMPS: [string, number[]][] = [
  ['forward', [HOUR]],
  ['back', [-HOUR]],
  ['a month back', [-30 * DAY]],
  ['a day forward and back again', [DAY, -DAY]],
  ['a day back and forward again', [-DAY, DAY]],
];

pipelineForEachTest(ALERTS);

describe.each(JUMPS)('a clock that is set %s', (_name, jumps) => {
  async function jump(): Promise<void> {
    for (const ms of jumps) {
      await pipeline.pass(30 * SECOND);
      pipeline.jump(ms);
    }
  }

  it('counts a repeated delivery once after a clock jump', async () => {
    const event = payment();
    await pipeline.receive(event);
    await jump();
    await pipeline.receive(event);
    await pipeline.pass(MINUTE);
    expect(pipeline.alerts(ALERTS)).toMatchObject([{ title: expect.not.stringMatching(/×\d/) }]);
  });

  it('at most doubles a channel’s wait after a clock jump', async () => {
    const fault = pipeline.discord.fault({ fault: { kind: 'error', status: 500 }, channelId: ALERTS });
    await pipeline.pay(1);
    await jump();
    fault.clear();
    await pipeline.untilShown(ALERTS, 1, 180);
    await pipeline.pay(2);
    await pipeline.untilShown(ALERTS, 2, 1);
    expect(pipeline.numbers(ALERTS)).toEqual(['1', '2']);
  });

  it('at most doubles the pause of the breaker after a clock jump', async () => {
    await pipeline.watch(TREASURY, WHALES);
    const fault = pipeline.discord.fault({ fault: { kind: 'cloudflare', status: 403 }, path: MESSAGES });
    await pipeline.pay(1);
    await jump();
    fault.clear();
    for (const channel of [ALERTS, WHALES]) await pipeline.untilShown(channel, 1, 300);
    expect(pipeline.deliverer.state()).toMatchObject({ breaker: false });
  });

  it('repeats no message whose nonce Discord may have forgotten after a clock jump', async () => {
    pipeline.discord.fault({ fault: { kind: 'lost' }, method: 'POST', path: MESSAGES, times: 1 });
    pipeline.discord.fault({ fault: { kind: 'error', status: 503 }, path: MESSAGES, forMs: 20 * MINUTE });
    const [before = 0, ...after] = jumps;
    // If the clock is set twice, the message is sent in between, while it is wrong.
    if (after.length > 0) pipeline.jump(before);
    await pipeline.pay(1);
    await pipeline.pass(10 * MINUTE);
    pipeline.jump(after[0] ?? before);
    await pipeline.pay(2);
    await pipeline.turnUntilSettled(1_800);
    expect(pipeline.numbers(ALERTS)).toEqual(['1', '2']);
  });
});

it('dead-letters nothing when the clock jumps a month ahead while Discord is down or the channel is closed', async () => {
  await pipeline.watch(TREASURY, WHALES);
  pipeline.discord.act({ do: 'channel.forbid', channelId: WHALES });
  const fault = pipeline.discord.fault({ fault: { kind: 'error', status: 500 }, channelId: ALERTS });
  await pipeline.pay(1);
  await pipeline.pass(10 * SECOND);
  pipeline.jump(30 * DAY);
  pipeline.deliverer.guildChanged(HARBOR);
  await pipeline.pass(20 * SECOND);
  expect((await pipeline.backlog()).deadLetters).toBe(0);
  fault.clear();
  await pipeline.reopen(WHALES);
  await pipeline.pass(90 * SECOND);
  expect([ALERTS, WHALES].map(pipeline.numbers)).toEqual([['1'], ['1']]);
});

it.each([7, 20])(
  'counts no retry as a transfer, and no transfer as a retry, on a clock set %i s back',
  async (seconds) => {
    const [event, twice] = [payment(), payment({ value: '7000000' })];
    await pipeline.receive(event);
    await pipeline.pass(5 * SECOND);
    pipeline.jump(-seconds * SECOND);
    await pipeline.receive(twice);
    await pipeline.pass(3 * SECOND);
    await pipeline.receive(twice);
    await pipeline.pass(7 * SECOND);
    await pipeline.receive(event);
    await pipeline.pass(MINUTE);
    expect(pipeline.alerts(ALERTS).map(({ title }) => /×\d+/.exec(title)?.[0])).toEqual([undefined, '×2']);
  },
);

it('posts a digest that a clock a year ahead had postponed at the next start', async () => {
  await pipeline.watch(TREASURY, WHALES, { digest: 'daily' });
  pipeline.jump(365 * DAY);
  await pipeline.pay(1);
  await pipeline.untilShown(ALERTS, 1, 60);
  pipeline.jump(-365 * DAY);
  await pipeline.restart();
  await pipeline.untilShown(WHALES, 1, 60);
});
