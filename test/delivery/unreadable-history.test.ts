import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ALERTS, HARBOR, type Pipeline, startPipeline, TREASURY } from '../pipeline/harness.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const MESSAGES = '/channels/:channel/messages';

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await startPipeline();
  await pipeline.watch(TREASURY, ALERTS);
  await pipeline.pay(1);
  await settled();
  pipeline.discord.act({ do: 'channel.forbid', channelId: ALERTS, permissions: ['ReadMessageHistory'] });
});
afterEach(() => pipeline.close());

const settled = () => pipeline.turnUntilSettled();
const untroubled = async () => expect(await pipeline.store.channels.blocked(HARBOR)).toEqual([]);

describe('a lost response in a channel whose history cannot be read', () => {
  const away = () =>
    pipeline.discord.fault({ fault: { kind: 'error', status: 503 }, path: '/channels/**', forMs: 20 * MINUTE });

  it('repeats a message soon and posts it once if nothing was posted since the lost response', async () => {
    await pipeline.pass(10 * MINUTE, MINUTE);
    pipeline.discord.fault({ fault: { kind: 'reset' }, method: 'POST', path: MESSAGES, times: 1 });
    pipeline.discord.fault({
      fault: { kind: 'error', status: 503 },
      method: 'POST',
      path: MESSAGES,
      forMs: 20 * MINUTE,
    });
    for (const n of [2, 3]) await pipeline.pay(n);
    await pipeline.pass(22 * MINUTE);
    expect(pipeline.numbers(ALERTS)).toEqual(['1', '2', '3']);
    await untroubled();
  });

  it.each([
    ['shown as empty', null],
    ['refused', { kind: 'error', status: 403, code: 50013, message: 'Missing Permissions' }],
  ] as const)('repeats a message once rather than losing it if the channel’s history is %s', async (_, fault) => {
    if (fault) pipeline.discord.fault({ fault, method: 'GET', path: MESSAGES });
    await pipeline.pass(10 * MINUTE, MINUTE);
    pipeline.discord.fault({ fault: { kind: 'lost' }, method: 'POST', path: MESSAGES, times: 1 });
    away();
    for (const n of [2, 3]) await pipeline.pay(n);
    await settled();
    expect(pipeline.numbers(ALERTS)).toEqual(['1', '2', '2', '3']);
    await untroubled();
  });

  it('repeats a message rarely while responses keep getting lost, then dead-letters it and posts what follows', async () => {
    const lost = pipeline.discord.fault({ fault: { kind: 'lost' }, method: 'POST', path: MESSAGES });
    await pipeline.pay(2);
    await pipeline.pass(80 * HOUR, 15 * MINUTE);
    expect((await pipeline.backlog()).deadLetters).toBe(1);
    expect(pipeline.numbers(ALERTS).length).toBeLessThan(24);
    lost.clear();
    await pipeline.pay(3);
    await settled();
    expect(pipeline.numbers(ALERTS).at(-1)).toBe('3');
    await untroubled();
  });
});
