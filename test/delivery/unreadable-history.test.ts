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

const settled = () => pipeline.turnUntil(pipeline.settled);
const untroubled = async () => expect(await pipeline.store.channels.blocked(HARBOR)).toEqual([]);

describe('an answer that is lost in a channel whose history cannot be read, longer ago than a nonce is remembered', () => {
  const away = () =>
    pipeline.discord.fault({ fault: { kind: 'error', status: 503 }, path: '/channels/**', forMs: 20 * MINUTE });

  it('is no reason to wait long, or to tell a line twice, where nothing was sent since', async () => {
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
  ] as const)(
    'where something was, as %s: the line is repeated once rather than lost, and nothing waits',
    async (_, fault) => {
      if (fault) pipeline.discord.fault({ fault, method: 'GET', path: MESSAGES });
      await pipeline.pass(10 * MINUTE, MINUTE);
      pipeline.discord.fault({ fault: { kind: 'lost' }, method: 'POST', path: MESSAGES, times: 1 });
      away();
      for (const n of [2, 3]) await pipeline.pay(n);
      await settled();
      expect(pipeline.numbers(ALERTS)).toEqual(['1', '2', '2', '3']);
      await untroubled();
    },
  );

  it('time and again is followed by few repeats, and at last by a dead letter; what comes then is told', async () => {
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
