import { describe, expect, it } from 'vitest';
import { MINUTE, SECOND } from '../../src/domain/clock.ts';
import { StoreError } from '../../src/errors.ts';
import { ALERTS, GENERAL, HARBOR, MESSAGES, payment, TREASURY, WHALES } from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest, usePipeline } from '../pipeline/per-test.ts';

pipelineForEachTest(ALERTS, WHALES);

const notices = (channel: string) => pipeline.alerts(channel).filter(({ title }) => title.includes('can’t post'));
const close = (channelId: string) => pipeline.discord.act({ do: 'channel.forbid', channelId });
const send = async () => {
  await pipeline.receive(payment());
  await pipeline.idle();
};

describe('a blocked channel', () => {
  it('reports a parked channel once in the default channel, with its reason, remedy and deadline', async () => {
    await pipeline.store.guilds.changeSettings(HARBOR, { defaultChannel: GENERAL });
    close(ALERTS);
    await send();
    await pipeline.pass(24 * 60 * MINUTE, 30 * MINUTE);
    await pipeline.restart();
    await send();
    expect(notices(GENERAL)).toHaveLength(1);
    const { text } = notices(GENERAL)[0]!;
    for (const part of [`<#${ALERTS}>`, '50001', 'View Channel', '/subscription edit', '7 days'])
      expect(text).toContain(part);
    expect(notices(WHALES)).toEqual([]);
  });

  it('reports a parked channel in another used channel if the default one is blocked, and again the next time', async () => {
    await pipeline.store.guilds.changeSettings(HARBOR, { defaultChannel: ALERTS });
    for (const times of [1, 2]) {
      close(ALERTS);
      await send();
      expect(notices(WHALES)).toHaveLength(times);
      await pipeline.reopen(ALERTS);
    }
    expect(notices(WHALES)).toHaveLength(2);
  });

  it('parks and reports a channel soon although storing its state fails once', async () => {
    let failures = 0;
    await usePipeline({
      store: ({ channels }) => ({
        channels: {
          async setState(...state) {
            if (failures++ === 0) throw new StoreError('disk full', 'SQLITE_FULL');
            return channels.setState(...state);
          },
        },
      }),
    });
    for (const channel of [ALERTS, WHALES]) await pipeline.watch(TREASURY, channel);
    close(ALERTS);
    await send();
    await pipeline.pass(10 * SECOND);
    expect(await pipeline.store.channels.blocked(HARBOR)).toHaveLength(1);
    expect(notices(WHALES)).toHaveLength(1);
  });

  it('drops the notice of a parked channel that opens before it was sent', async () => {
    close(ALERTS);
    close(WHALES);
    await send();
    for (const channel of [ALERTS, WHALES]) await pipeline.reopen(channel);
    expect(pipeline.alerts(ALERTS).filter(({ title }) => title.startsWith('📥'))).toHaveLength(1);
    expect(notices(WHALES)).toEqual([]);
  });

  it('neither parks nor reports channels of a server that removed the bot before the process started', async () => {
    await send();
    pipeline.deliverer.guildRemoved(HARBOR);
    await pipeline.restart();
    for (const channel of [ALERTS, WHALES]) close(channel);
    await send();
    expect((await pipeline.backlog()).channels).toEqual({ parked: 0, unreachable: 2 });
  });

  it('reports a parked channel in a server that added the bot again', async () => {
    await send();
    pipeline.deliverer.guildRemoved(HARBOR);
    pipeline.deliverer.guildChanged(HARBOR);
    close(ALERTS);
    await send();
    expect((await pipeline.backlog()).channels).toEqual({ parked: 1, unreachable: 0 });
    expect(notices(WHALES)).toHaveLength(1);
  });

  it('posts a notice once despite a lost response', async () => {
    close(ALERTS);
    const fault = { kind: 'lost' } as const;
    pipeline.discord.fault({ fault, channelId: WHALES, method: 'POST', path: MESSAGES, times: 3 });
    await send();
    await pipeline.restart();
    await pipeline.pass(5 * MINUTE);
    expect(notices(WHALES)).toHaveLength(1);
  });
});

it('posts alerts after a notice that Discord refuses', async () => {
  await pipeline.store.channels.postNotice({
    guildId: HARBOR,
    channelId: WHALES,
    reference: 'REFERENCE0',
    nonce: 'nonce',
    payload: JSON.stringify({ embeds: [{ title: 'x'.repeat(1_000) }] }),
    now: pipeline.clock.now(),
    aboutChannelId: null,
  });
  await send();
  expect(pipeline.alerts(WHALES).map(({ title }) => title)).toHaveLength(1);
  expect([await pipeline.settled(), (await pipeline.backlog()).deadLetters]).toEqual([true, 0]);
});
