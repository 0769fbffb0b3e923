import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock, type ManualClock } from '../../sandbox/discord/index.ts';
import type { Asset } from '../../src/domain/address.ts';
import { HOUR, MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { UpstreamFailure } from '../../src/domain/upstream.ts';
import { createPrices } from '../../src/upstream/prices.ts';
import { type Given, HTML, startUpstream } from './server.ts';

const TOKEN = '0x5df217d84e67a4aac9d130fc7afed5a94e873f0d';
const COIN_KEY = 'ethereum:0x0000000000000000000000000000000000000000';
const MANY = Array.from({ length: 300 }, (_, n): Asset => `0x${String(n).padStart(40, 'a')}`);

let upstream: Awaited<ReturnType<typeof startUpstream>>;
let clock: ManualClock;
let failures: (UpstreamFailure['status'] | null)[];
let prices: ReturnType<ReturnType<typeof createPrices>['on']>;
beforeEach(async () => {
  upstream = await startUpstream(() => null);
  clock = createManualClock();
  failures = [];
  const onResponse = (failure: UpstreamFailure | null) => void failures.push(failure?.status ?? null);
  const client = createPrices({ url: upstream.url, clock, onResponse, timeoutMs: 2_000 });
  onTestFinished(client.close);
  onTestFinished(upstream.close);
  prices = client.on('ethereum');
});

/** A response in which the coin has this price, as text; a source may write keys in capitals. */
const answered = (price: string, change: object = {}): Given => {
  const coin = { decimals: 18, timestamp: clock.now() / SECOND, confidence: 0.99, ...change };
  return {
    body: `{"coins":{"${COIN_KEY.toUpperCase()}":${JSON.stringify({ price: 0, ...coin }).replace('"price":0', `"price":${price}`)}}}`,
  };
};
const serve = (price: string, change: object = {}) => upstream.set(() => answered(price, change));

/** Asks, and turns the clock for as long as requests wait for each other. */
async function ask(...assets: Asset[]): Promise<void> {
  let isDone = false;
  void prices.ask(assets).then(() => (isDone = true));
  while (!isDone) {
    await new Promise(setImmediate);
    if (!isDone && clock.untilNext() <= SECOND) clock.advance(clock.untilNext());
  }
}
const coin = () => prices.of('native', 18);

describe('prices', () => {
  it('asks for the coin as the zero address, and keeps every digit for five minutes', async () => {
    serve('2412.33500000000000000000001', { confidence: 0.9, timestamp: clock.now() / SECOND - 56 * 60 });
    await ask('native', TOKEN);
    expect(upstream.requests.map(({ url }) => url)).toEqual([`/prices/current/${COIN_KEY},ethereum:${TOKEN}`]);
    expect(coin()).toBe('2412.33500000000000000000001');
    expect(prices.of(TOKEN, 18)).toBeNull();
    await ask('native', TOKEN);
    expect(upstream.requests).toHaveLength(1);
    serve('1.5e-7');
    clock.advance(3 * MINUTE);
    expect(coin()).not.toBeNull();
  });

  it('asks in batches, at most one a second, and again for what moved before the prices expire', async () => {
    const at: number[] = [];
    upstream.set(() => {
      at.push(clock.now());
      return answered('2');
    });
    // Of more than 300, those that moved last are kept.
    await ask(...MANY, 'native');
    expect(at.map((time) => time - at[0]!)).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000]);
    expect(coin()).toBe('2');
    clock.advance(4 * MINUTE);
    await ask('native', TOKEN);
    expect(coin()).toBe('2');
    clock.advance(2 * MINUTE);
    expect(coin()).toBe('2');
  });

  it.each<[string, string, object]>([
    ['a low confidence', '2', { confidence: 0.89 }],
    ['no confidence', '2', { confidence: undefined }],
    ['an hour of age', '2', { timestamp: Date.UTC(2026, 0, 1) / SECOND - 3_600 }],
    ['a time in the future', '2', { timestamp: Date.UTC(2026, 0, 1) / SECOND + 3_600 }],
    ['other decimals', '2', { decimals: 6 }],
    ['a price of nothing', '0.0', {}],
    ['a negative price', '-2', {}],
    ['a text', '"two"', {}],
    ['an object', '{}', {}],
  ])('does not know a price with %s', async (_, price, change) => {
    serve(price, change);
    await ask('native');
    expect(failures).toEqual([null]);
    expect(coin()).toBeNull();
  });

  it('believes a price that is far from the last one only when a second answer has it, too', async () => {
    serve('2000');
    await ask('native');
    const next = async (price: string) => {
      serve(price);
      clock.advance(5 * MINUTE);
      await ask('native');
      return coin();
    };
    const answers: (string | null)[] = [];
    for (const price of ['2600', '2600000', '0', '2600000', '2', '2500', '2.1', '2']) answers.push(await next(price));
    expect(answers).toEqual(['2600', null, null, null, null, '2500', null, '2']);
    serve('2000');
    clock.advance(HOUR);
    await ask('native');
    expect(coin()).toBe('2000');
  });

  it.each<[string, Given]>([
    ['unreadable', { body: '{"coins":[]}' }],
    ['unreadable', { body: 'Moved' }],
    ['broken', HTML],
    ['limited', { status: 429, body: '' }],
    ['timeout', null],
  ])('knows nothing while the source is away (%s), and asks again after a minute', async (status, given) => {
    serve('2000');
    await ask('native');
    upstream.set(() => given);
    clock.advance(5 * MINUTE);
    await ask('native', ...MANY.slice(0, 100));
    expect([failures.at(-1), coin()]).toEqual([status, null]);
    await ask('native', TOKEN);
    expect(upstream.requests).toHaveLength(2);
    serve('2001');
    clock.advance(MINUTE);
    await ask('native');
    expect(coin()).toBe('2001');
  });
});
