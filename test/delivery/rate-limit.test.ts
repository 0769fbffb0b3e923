import { describe, expect, it, onTestFinished } from 'vitest';
import { type Fault, ManualClock } from '../../sandbox/discord/index.ts';
import { backoff, createPace, type Leaving } from '../../src/delivery/rate-limit.ts';
import type { Sender, SendOutcome } from '../../src/domain/send-outcome.ts';
import { ALERTS, GENERAL, HARBOR, type Pipeline, startPipeline, TREASURY, WHALES } from '../pipeline/harness.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const MESSAGES = '/channels/:channel/messages';
const CHANNELS = [ALERTS, WHALES, GENERAL];
const EAGER: Leaving = { apart: 0, places: 0, during: Number.POSITIVE_INFINITY };

let pipeline: Pipeline;
const start = async (sender?: (real: Sender) => Sender) => {
  pipeline = await startPipeline(sender ? { sender } : {});
  onTestFinished(() => pipeline.close());
};

const posts = () => pipeline.discord.requests().filter(({ method }) => method === 'POST');
const watchAll = async () => {
  for (const channel of CHANNELS) await pipeline.watch(TREASURY, channel);
};

describe('the breaker', () => {
  const faults: [string, Fault][] = [
    ['a page of Cloudflare', { kind: 'cloudflare', status: 403 }],
    ['429 without a word on how long', { kind: 'rate-limit', retryAfterMs: 1, headers: false }],
    ['403 with an unknown code', { kind: 'error', status: 403, code: 99_999 }],
  ];
  it.each(faults)(
    '%s: everything waits, one request tries after 1, 2, 4, 8, 15 and 15 minutes',
    async (_name, fault) => {
      await start();
      await pipeline.watch(TREASURY, ALERTS);
      const active = pipeline.discord.fault({ fault, path: MESSAGES });
      await pipeline.pay(1);
      await pipeline.idle();
      expect(pipeline.deliverer.state().breaker).toBe(true);
      // The others have something to send as well, and are held back.
      for (const channel of [WHALES, GENERAL]) await pipeline.watch(TREASURY, channel);
      await pipeline.pay(2);
      await pipeline.pass(46 * MINUTE);
      const times = posts().map(({ at }) => Date.parse(at));
      const gaps = times.slice(1).map((time, n) => Math.round((time - times[n]!) / MINUTE));
      expect(gaps).toEqual([1, 2, 4, 8, 15, 15]);
      // It says nothing about any channel.
      expect(await pipeline.store.channels.blocked(HARBOR)).toEqual([]);
      expect(await pipeline.store.subscriptions.list(HARBOR)).toHaveLength(3);

      active.clear();
      await pipeline.turnUntil(() => CHANNELS.flatMap(pipeline.numbers).length === 4);
      expect(CHANNELS.map(pipeline.numbers)).toEqual([['1', '2'], ['2'], ['2']]);
      expect(pipeline.deliverer.state().breaker).toBe(false);
      // The next one begins with a minute again.
      const again = pipeline.discord.fault({ fault, path: MESSAGES, times: 1 });
      const before = pipeline.clock.now();
      await pipeline.pay(3);
      await pipeline.idle();
      expect(again.hits).toBe(1);
      await pipeline.turnUntil(() => CHANNELS.flatMap(pipeline.numbers).length === 7);
      expect(Math.round((pipeline.clock.now() - before) / MINUTE)).toBe(1);
    },
  );
});

describe('a token that Discord refuses', () => {
  it('stops sending, one request tries now and then, receiving goes on; the right token ends it', async () => {
    await start();
    await watchAll();
    const fault = pipeline.discord.fault({ fault: { kind: 'error', status: 401, code: 0 } });
    await pipeline.pay(1);
    await pipeline.idle();
    expect(pipeline.deliverer.state().authorised).toBe(false);
    const first = posts().length;
    expect(first).toBeLessThanOrEqual(CHANNELS.length);
    await pipeline.pay(2);
    await pipeline.pass(30 * MINUTE);
    const tried = posts().length - first;
    expect([tried >= 2, tried <= 10]).toEqual([true, true]);
    expect(await pipeline.backlog()).toMatchObject({
      inbox: { waiting: 0 },
      deadLetters: 0,
      channels: { parked: 0, paused: 0 },
    });
    fault.clear();
    await pipeline.turnUntil(() => CHANNELS.every((channel) => pipeline.numbers(channel).length === 2));
    expect(CHANNELS.map(pipeline.numbers)).toEqual(CHANNELS.map(() => ['1', '2']));
    expect(pipeline.deliverer.state().authorised).toBe(true);
  });
});

it('a token that the gateway refuses or takes: one request tries then; what an answer said counts for five minutes', () => {
  const clock = new ManualClock();
  const pace = createPace(clock);
  const { token, state, take } = pace;
  token(false);
  expect([state().authorised, typeof take(EAGER), take(EAGER)]).toEqual([false, 'object', SECOND]);
  token(true);
  expect([state().authorised, typeof take(EAGER)]).toEqual([true, 'object']);
  pace.answered('unauthorised');
  token(true);
  clock.advance(5 * MINUTE - 1);
  token(true);
  expect([state().authorised, take(EAGER)]).toEqual([false, 1]);
  clock.advance(1);
  token(true);
  expect(state().authorised).toBe(true);
});

describe('refused requests', () => {
  it('500 of them in ten minutes: sending is said to be held back until the first of them is that old', () => {
    const clock = new ManualClock();
    const pace = createPace(clock);
    const told = () => [pace.state().breaker, pace.take(EAGER)];
    for (let n = 0; n < 499; n++) pace.answered('invalid');
    expect(pace.state().breaker).toBe(false);
    pace.answered('invalid');
    expect(told()).toEqual([true, 10 * MINUTE]);
    clock.advance(10 * MINUTE);
    expect(told()).toEqual([false, expect.any(Object)]);
  });

  it('500 of them in ten minutes: nothing more is sent until the first of them is that old', async () => {
    await start();
    for (let n = 0; n < 600; n++) {
      const { id } = pipeline.discord.act({ do: 'channel.create', guildId: HARBOR, name: `c${n}` });
      await pipeline.watch(TREASURY, id!);
    }
    const fault = pipeline.discord.fault({ fault: { kind: 'error', status: 403, code: 50013 }, path: MESSAGES });
    const began = pipeline.clock.now();
    await pipeline.pay(1);
    await pipeline.pass(9 * MINUTE);
    // What was under way with the 500th was under way.
    expect(posts().length).toBeGreaterThanOrEqual(500);
    expect(posts().length).toBeLessThanOrEqual(540);
    expect(pipeline.deliverer.state().invalidRequests).toBe(posts().length);
    const before = posts().length;
    fault.clear();
    await pipeline.turnUntil(() => posts().length > before, 120);
    expect(pipeline.clock.now() - began).toBeGreaterThanOrEqual(10 * MINUTE);
    const told = async () => (await pipeline.backlog()).channels.parked === 0 && (await pipeline.settled());
    await pipeline.turnUntil(told, 1_800);
    expect((await pipeline.backlog()).deadLetters).toBe(0);
  });
});

describe('waiting before the next try', () => {
  it('has full jitter between nothing and 1 s that doubles up to a minute', () => {
    const waits = (random: number) => [1, 2, 3, 6, 7, 8, 1_000].map((attempt) => backoff(attempt, () => random));
    expect(waits(1)).toEqual([1, 2, 4, 32, 60, 60, 60].map((seconds) => seconds * SECOND));
    expect(waits(0.5)).toEqual([0.5, 1, 2, 16, 30, 30, 30].map((seconds) => seconds * SECOND));
    expect(waits(0)).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  /** Discord that answers the first requests as it is told; `asked` holds the channels in order. */
  function scripted(...outcomes: SendOutcome[]) {
    const asked: string[] = [];
    const sender = (real: Sender): Sender => ({
      ...real,
      create: (channelId, payload, nonce, csv) => {
        asked.push(channelId);
        const outcome = outcomes.shift();
        return outcome ? Promise.resolve(outcome) : real.create(channelId, payload, nonce, csv);
      },
    });
    return { asked, sender };
  }
  const limited = (global: boolean): SendOutcome => ({
    status: 'rate-limited',
    global,
    local: false,
    retryAfterMs: 90 * SECOND,
  });

  it('is as long as Retry-After says for a channel, whatever else happens there; the others go on', async () => {
    const { asked, sender } = scripted(limited(false));
    await start(sender);
    await pipeline.watch(TREASURY, ALERTS);
    await pipeline.pay(1);
    await pipeline.idle();
    for (const channel of [WHALES, GENERAL]) await pipeline.watch(TREASURY, channel);
    for (let n = 2; n <= 9; n++) {
      await pipeline.pay(n);
      pipeline.deliverer.guildChanged(HARBOR);
      await pipeline.pass(10 * SECOND);
    }
    expect(asked.filter((channel) => channel === ALERTS)).toHaveLength(1);
    expect(pipeline.numbers(WHALES)).toHaveLength(8);
    await pipeline.pass(9 * SECOND);
    expect(asked.filter((channel) => channel === ALERTS)).toHaveLength(1);
    await pipeline.pass(SECOND);
    expect(pipeline.numbers(ALERTS)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
  });

  it('is as long as Retry-After says where a server in trouble says so', async () => {
    const { asked, sender } = scripted({ status: 'unsure', reason: 'HTTP 503', retryAfterMs: 90 * SECOND });
    await start(sender);
    await pipeline.watch(TREASURY, ALERTS);
    await pipeline.pay(1);
    await pipeline.pass(89 * SECOND);
    expect(asked).toHaveLength(1);
    await pipeline.pass(2 * SECOND);
    expect(pipeline.numbers(ALERTS)).toEqual(['1']);
  });

  it.each([
    ['Discord', limited(true)],
    ['what stands before it', { status: 'breaker', reason: 'HTTP 429', retryAfterMs: 90 * SECOND } as const],
  ])('is as long as Retry-After says for everything: %s', async (_name, outcome) => {
    const { asked, sender } = scripted(outcome);
    await start(sender);
    await pipeline.watch(TREASURY, ALERTS);
    await pipeline.pay(1);
    await pipeline.idle();
    for (const channel of [WHALES, GENERAL]) await pipeline.watch(TREASURY, channel);
    await pipeline.pay(2);
    await pipeline.pass(89 * SECOND);
    expect(asked).toEqual([ALERTS]);
    await pipeline.pass(2 * SECOND);
    expect(CHANNELS.map(pipeline.numbers)).toEqual([['1', '2'], ['2'], ['2']]);
  });
});

describe('requests for everything', () => {
  /**
   * Sends whatever is allowed, as often as there is a chance; `takes` milliseconds until the n-th is there, as many until
   * its answer is back. When they were sent, and when they got there.
   */
  function greedy(leaving: Leaving, takes: (n: number) => number, seconds = 10, step = 7) {
    const clock = new ManualClock();
    const pace = createPace(clock);
    const sent: number[] = [];
    const there: number[] = [];
    for (const end = clock.now() + seconds * SECOND; clock.now() < end; clock.advance(step)) {
      for (let turn = pace.take(leaving); typeof turn !== 'number'; turn = pace.take(leaving)) {
        const { send, end: answered } = turn;
        send();
        const ms = takes(sent.length);
        sent.push(clock.now());
        there.push(clock.now() + ms);
        clock.after(2 * ms, answered);
      }
    }
    return { sent, there };
  }
  /** The most that there are within so many milliseconds. */
  const most = (times: number[], ms: number) =>
    Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + ms).length));

  it('are 40 at once and in any second', () => {
    const { sent } = greedy(EAGER, () => 3);
    expect(sent.filter((at) => at === sent[0])).toHaveLength(40);
    expect(most(sent, SECOND)).toBe(40);
    expect(sent.length).toBeGreaterThan(390);
  });

  it.each([
    ['are slow', () => 200],
    ['become quicker', (n: number) => Math.max(1, 200 - n)],
    ['are slow now and then', (n: number) => (n % 40 < 25 ? 200 : 0)],
    ['are slow by turns', (n: number) => (n % 3) * 100],
  ])('get there not more than 50 in a second when they %s', (_name, takes) => {
    const { sent, there } = greedy(EAGER, takes);
    expect(most(there, SECOND)).toBeLessThanOrEqual(50);
    expect(sent.length).toBeGreaterThan(380);
  });

  it('have as much time between them as is asked for', () => {
    const { sent } = greedy({ ...EAGER, apart: 25 }, () => 3, 2, 5);
    expect(sent).toHaveLength(80);
    expect(most(sent, 25)).toBe(1);
  });

  it('leave as many places to others as is asked for', () => {
    const { sent } = greedy({ ...EAGER, places: 20 }, () => 3);
    expect(most(sent, SECOND)).toBe(20);
    expect(sent.length).toBeGreaterThan(195);
  });

  it('count from when they are sent, and hold their place until then', () => {
    const clock = new ManualClock();
    const pace = createPace(clock);
    const turns = Array.from({ length: 40 }, () => pace.take(EAGER));
    clock.advance(5 * SECOND);
    expect(pace.take(EAGER)).toBe(SECOND);
    for (const turn of turns) if (typeof turn !== 'number') turn.send();
    clock.advance(999);
    expect(pace.take(EAGER)).toBe(1);
  });
});
