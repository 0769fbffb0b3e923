import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../sandbox/discord/index.ts';
import { ALERTS, GENERAL, type Pipeline, startPipeline, TREASURY, WHALES } from '../pipeline/harness.ts';

const MESSAGES = '/channels/:channel/messages';
const CHANNELS = [ALERTS, WHALES, GENERAL];

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await startPipeline();
  for (const channel of CHANNELS) await pipeline.watch(TREASURY, channel);
});
afterEach(() => pipeline.close());

/** Faults that tell of one request, or of one channel. */
const local: [string, Fault][] = [
  ['500', { kind: 'error', status: 500 }],
  ['502 as a page', { kind: 'cloudflare', status: 502 }],
  ['an answer cut half-way', { kind: 'cut' }],
  ['an answer that is lost', { kind: 'lost' }],
  ['a connection that breaks', { kind: 'reset' }],
  ['no answer, nothing done', { kind: 'hang' }],
  ['no answer, but done', { kind: 'hang', done: true }],
  ['429 with Retry-After', { kind: 'rate-limit', retryAfterMs: 50 }],
];
/** Faults that tell of everything, wherever they are met. */
const everywhere: [string, Fault][] = [
  ['429 for everything', { kind: 'rate-limit', retryAfterMs: 50, global: true }],
  ['429 without headers', { kind: 'rate-limit', retryAfterMs: 50, headers: false }],
  ['403 as a page', { kind: 'cloudflare', status: 403 }],
  ['403 with an unknown code', { kind: 'error', status: 403, code: 99_999 }],
  ['401', { kind: 'error', status: 401, code: 0 }],
];

describe('in one channel', () => {
  it.each(local)(
    '%s: no other channel waits for it; at the end it shows every line once, in order',
    async (_, fault) => {
      if (fault.kind === 'hang') pipeline.giveUpSoon(ALERTS);
      const began = pipeline.clock.now();
      const active = pipeline.discord.fault({ fault, path: MESSAGES, method: 'POST', channelId: ALERTS });
      for (const n of [1, 2, 3]) {
        await pipeline.pay(n);
        await pipeline.turnUntil(
          () => pipeline.numbers(WHALES).length === n && pipeline.numbers(GENERAL).length === n,
          1,
        );
      }
      expect(pipeline.clock.now() - began).toBeLessThan(3_000);
      expect(active.hits).toBeGreaterThan(0);
      expect(await pipeline.settled()).toBe(false);
      active.clear();
      await pipeline.turnUntil(pipeline.settled);
      expect(CHANNELS.map(pipeline.numbers)).toEqual(CHANNELS.map(() => ['1', '2', '3']));
    },
  );

  it.each(everywhere)('%s: every channel shows every line once, in order', async (_, fault) => {
    const active = pipeline.discord.fault({ fault, path: MESSAGES, method: 'POST', channelId: ALERTS, times: 2 });
    for (const n of [1, 2, 3]) await pipeline.pay(n);
    await pipeline.turnUntil(pipeline.settled);
    expect(active.hits).toBe(2);
    expect(CHANNELS.map(pipeline.numbers)).toEqual(CHANNELS.map(() => ['1', '2', '3']));
  });
});

describe('everywhere', () => {
  it.each([...local, ...everywhere])('%s: every channel shows every line once, in order', async (_, fault) => {
    if (fault.kind === 'hang') pipeline.giveUpSoon(...CHANNELS);
    const active = pipeline.discord.fault({ fault, times: 7 });
    for (const n of [1, 2, 3]) {
      await pipeline.pay(n);
      await pipeline.pass(1_000);
    }
    await pipeline.turnUntil(pipeline.settled, 7_200);
    // Searches for messages that may have come through are met by it as well.
    expect(active.hits).toBe(7);
    expect(CHANNELS.map(pipeline.numbers)).toEqual(CHANNELS.map(() => ['1', '2', '3']));
  });
});
