import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { createRateLimit } from '../../src/delivery/rate-limit.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { SendOutcome } from '../../src/domain/send-outcome.ts';
import { ALERTS, MESSAGES, type Pipeline, payment, startPipeline, TREASURY, WHALES } from '../pipeline/harness.ts';

const JUMPS: [string, number[]][] = [
  ['forward', [HOUR]],
  ['back', [-HOUR]],
  ['a month back', [-30 * DAY]],
  ['a day forward and back again', [DAY, -DAY]],
  ['a day back and forward again', [-DAY, DAY]],
];

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await startPipeline();
  await pipeline.watch(TREASURY, ALERTS);
});

describe.each(JUMPS)('a clock that is set %s', (_name, jumps) => {
  /** Sets the clock, each time after half a minute. */
  async function jump(): Promise<void> {
    for (const ms of jumps) {
      await pipeline.pass(30 * SECOND);
      pipeline.jump(ms);
    }
  }

  it('counts a repeated delivery once after a clock jump', async () => {
    const event = payment();
    await pipeline.receive(event, 20);
    await jump();
    await pipeline.receive(event, 20);
    await pipeline.pass(MINUTE);
    expect(pipeline.alerts(ALERTS)).toMatchObject([{ title: expect.not.stringMatching(/×\d/) }]);
  });

  it('at most doubles a channel’s wait after a clock jump', async () => {
    const fault = pipeline.discord.fault({ fault: { kind: 'error', status: 500 }, channelId: ALERTS });
    await pipeline.pay(1);
    await jump();
    fault.clear();
    await pipeline.turnUntil('#alerts shows 1 alert', () => pipeline.numbers(ALERTS).length === 1, 180);
    await pipeline.pay(2);
    await pipeline.turnUntil('#alerts shows 2 alerts', () => pipeline.numbers(ALERTS).length === 2, 1);
    expect(pipeline.numbers(ALERTS)).toEqual(['1', '2']);
  });

  it('at most doubles the pause of the breaker after a clock jump', async () => {
    await pipeline.watch(TREASURY, WHALES);
    const fault = pipeline.discord.fault({ fault: { kind: 'cloudflare', status: 403 }, path: MESSAGES });
    await pipeline.pay(1);
    await jump();
    fault.clear();
    await pipeline.turnUntil(
      '#alerts and #whales show 2 alerts together',
      () => [...pipeline.numbers(ALERTS), ...pipeline.numbers(WHALES)].length === 2,
      300,
    );
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
    await pipeline.turnUntil('#alerts shows at least 2 alerts', () => pipeline.numbers(ALERTS).length >= 2, 1_800);
    expect(pipeline.numbers(ALERTS)).toEqual(['1', '2']);
  });
});

describe.each([7, 20])('a clock that is set %i seconds back', (seconds) => {
  const copies = () => pipeline.alerts(ALERTS).map(({ title }) => Number(/×(\d+)/.exec(title)?.[1] ?? 1));

  it('counts neither a retry as a second transfer nor a second transfer as a retry after a clock jump', async () => {
    const [event, twice] = [payment(), payment({ value: '7000000' })];
    await pipeline.receive(event, 20);
    await pipeline.pass(5 * SECOND);
    pipeline.jump(-seconds * SECOND);
    await pipeline.receive(twice, 20);
    await pipeline.pass(3 * SECOND);
    await pipeline.receive(twice, 20);
    await pipeline.pass(7 * SECOND);
    await pipeline.receive(event, 20);
    await pipeline.pass(MINUTE);
    expect(copies()).toEqual([1, 2]);
  });
});

describe('the rate limit', () => {
  it('frees its slots in time after the clock was set back', () => {
    const clock = createManualClock();
    let wrong = 0;
    const rateLimit = createRateLimit({ now: () => clock.now() + wrong, after: clock.after.bind(clock) });
    /** Takes a request slot; returns how long a request would have to wait, 0 when it got one. */
    const send = () => {
      const slot = rateLimit.take({ spacingMs: 0, reservedSlots: 0, recheckMs: Number.POSITIVE_INFINITY });
      if (typeof slot === 'number') return slot;
      slot.countRequest();
      return 0;
    };
    const burst = () => Array.from({ length: 60 }, send).filter((wait) => wait === 0).length;
    expect(burst()).toBe(40);
    for (let n = 0; n < 499; n++) rateLimit.recordResponse('refused');
    wrong = -HOUR;
    clock.advance(SECOND);
    expect(send()).toBe(SECOND);
    clock.advance(2 * SECOND);
    expect(burst()).toBe(40);
    // Invalid requests still count.
    rateLimit.recordResponse('refused');
    expect(rateLimit.state().invalidRequests).toBe(500);
    clock.advance(9 * MINUTE);
    expect(send()).toBeGreaterThan(0);
    clock.advance(MINUTE + SECOND);
    expect(send()).toBe(0);
  });
});

it('posts a digest that a clock a year ahead had postponed at the next start', async () => {
  await pipeline.watch(TREASURY, WHALES, { digest: 'daily' });
  pipeline.jump(365 * DAY);
  await pipeline.pay(1);
  await pipeline.turnUntil('#alerts shows 1 alert', () => pipeline.numbers(ALERTS).length === 1, 60);
  pipeline.jump(-365 * DAY);
  await pipeline.restart();
  await pipeline.turnUntil('#whales has 1 message', () => pipeline.discord.messages(WHALES).length === 1, 60);
  expect(pipeline.discord.messages(WHALES)).toHaveLength(1);
});

describe('a clock that is set back after a request was sent', () => {
  const limited: SendOutcome = { status: 'rate-limited', global: false, local: false, retryAfterMs: MINUTE };
  it.each<[string, SendOutcome, 'sending' | 'storing']>([
    ['429 while the request is in flight', limited, 'sending'],
    ['503 while the request is in flight', { status: 'unsure', reason: '503', retryAfterMs: MINUTE }, 'sending'],
    ['429 while the response is recorded', limited, 'storing'],
  ])('waits for the Retry-After of a %s, not longer and not shorter', async (_, outcome, jumpsWhile) => {
    let attempts = 0;
    pipeline = await startPipeline({
      sender: (real) => ({
        ...real,
        async create(...message) {
          attempts++;
          if (attempts > 1) return real.create(...message);
          if (jumpsWhile === 'sending') pipeline.jump(-HOUR);
          return outcome;
        },
      }),
      store: ({ outbox, ...others }) => ({
        ...others,
        outbox: {
          ...outbox,
          async markNotSent(id) {
            await outbox.markNotSent(id);
            if (jumpsWhile !== 'storing') return;
            pipeline.jump(-HOUR);
            // Something else happens before this response is applied.
            pipeline.deliverer.wake([]);
          },
        },
      }),
    });
    await pipeline.watch(TREASURY, ALERTS);
    await pipeline.pay(1);
    await pipeline.pass(MINUTE - SECOND);
    expect(attempts).toBe(1);
    await pipeline.pass(2 * SECOND);
    expect(pipeline.numbers(ALERTS)).toEqual(['1']);
  });
});
