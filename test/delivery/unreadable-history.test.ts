import { beforeEach, describe, expect, it } from 'vitest';
import { HOUR, MINUTE } from '../../src/domain/clock.ts';
import { ALERTS, HARBOR, MESSAGES, TREASURY } from '../pipeline/harness.ts';
import { pipeline, usePipeline } from '../pipeline/per-test.ts';

const DOWN = { kind: 'error', status: 503 } as const;

beforeEach(async () => {
  await usePipeline();
  await pipeline.watch(TREASURY, ALERTS);
  await pipeline.pay(1);
  await pipeline.turnUntilSettled();
  pipeline.discord.act({ do: 'channel.forbid', channelId: ALERTS, permissions: ['ReadMessageHistory'] });
});

const blocked = () => pipeline.store.channels.blocked(HARBOR);

describe('a lost response in a channel whose history cannot be read', () => {
  it.each([
    ['shown as empty', null],
    ['refused', { kind: 'error', status: 403, code: 50013, message: 'Missing Permissions' }],
  ] as const)('posts a message twice rather than losing it if the channel’s history is %s', async (_, fault) => {
    if (fault) pipeline.discord.fault({ fault, method: 'GET', path: MESSAGES });
    await pipeline.pass(10 * MINUTE, MINUTE);
    pipeline.discord.fault({ fault: { kind: 'lost' }, method: 'POST', path: MESSAGES, times: 1 });
    pipeline.discord.fault({ fault: DOWN, path: '/channels/**', forMs: 20 * MINUTE });
    await pipeline.payAndWait(2);
    await pipeline.pay(3);
    await pipeline.turnUntilSettled();
    expect(pipeline.numbers(ALERTS)).toEqual(['1', '2', '2', '3']);
    expect(await blocked()).toEqual([]);
  });

  it('repeats a message rarely while responses keep getting lost, then dead-letters it and posts later alerts', async () => {
    const lost = pipeline.discord.fault({ fault: { kind: 'lost' }, method: 'POST', path: MESSAGES });
    await pipeline.pay(2);
    await pipeline.pass(80 * HOUR, 15 * MINUTE);
    expect((await pipeline.backlog()).deadLetters).toBe(1);
    expect(pipeline.numbers(ALERTS).length).toBeLessThan(24);
    lost.clear();
    await pipeline.pay(3);
    await pipeline.turnUntilSettled();
    expect(pipeline.numbers(ALERTS).at(-1)).toBe('3');
    expect(await blocked()).toEqual([]);
  });
});
