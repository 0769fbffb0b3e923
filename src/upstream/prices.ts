import { z } from 'zod';
import { type Asset, ZERO_ADDRESS } from '../domain/address.ts';
import { plainDecimal } from '../domain/amount.ts';
import { type Clock, HOUR, inTime, MINUTE, repeat, SECOND } from '../domain/clock.ts';
import { type ChainPrices, isFarFrom } from '../domain/transfer.ts';
import type { UpstreamFailure } from '../domain/upstream.ts';
import { type ClientOptions, call, jsonOf } from './http.ts';

/** How long a price is used, and how often those of what moved lately are asked again. */
const CACHE_MS = 5 * MINUTE;
const REFRESH_MS = 4 * MINUTE;
/** Older prices, by the source's own time, are not used. */
const MAX_AGE_MS = HOUR;
/** A source's clock may be ahead by this. */
const MAX_AHEAD_MS = 5 * MINUTE;
const MIN_CONFIDENCE = 0.9;
const REQUEST_INTERVAL_MS = SECOND;
const FAILURE_PAUSE_MS = MINUTE;
const MAX_BATCH = 50;
/** Most assets whose prices are kept, over all chains: those that moved last. */
const MAX_ASSETS = 300;

/** Numbers are their source texts. */
const ANSWER = z.object({ coins: z.record(z.string(), z.unknown()) });
const COIN = z.object({
  price: z.string(),
  decimals: z.string().optional(),
  timestamp: z.string(),
  confidence: z.string(),
});

/** Times without a name are by the monotonic clock. */
interface Known {
  askedAt: number;
  /** null: none, or none that is believed. `at`: by the source, milliseconds since 1970. */
  quote: { price: string; decimals: string | undefined; at: number } | null;
  /** The last price that was believed. */
  last: { price: string; heardAt: number } | null;
  /** A price that is far from the last one, until another response confirms it. */
  unconfirmed: string | null;
}

export type Prices = ReturnType<typeof createPrices>;

/** Whatever is wrong with a price, it counts as unknown. */
export function createPrices({ url, clock, timeoutMs = 5 * SECOND, onResponse }: ClientOptions & { clock: Clock }) {
  /** By key, those that moved last at the end. */
  const known = new Map<string, Known>();
  const wanted = new Set<string>();
  let running: Promise<void> | null = null;
  let requests: Promise<UpstreamFailure | null> = Promise.resolve(null);
  let requestedAt = Number.NEGATIVE_INFINITY;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  const stopRefreshing = repeat(clock, REFRESH_MS, () => want([...known.keys()]));

  const keyOf = (chain: string, asset: Asset) => `${chain}:${asset === 'native' ? ZERO_ADDRESS : asset}`.toLowerCase();

  const request = (keys: readonly string[]): Promise<UpstreamFailure | null> => {
    requests = requests.then(() => send(keys)).catch(() => ({ status: 'unreadable' }));
    return requests;
  };

  async function send(keys: readonly string[]): Promise<UpstreamFailure | null> {
    const wait = requestedAt + REQUEST_INTERVAL_MS - clock.elapsed();
    if (wait > 0) await new Promise<void>((resolve) => void clock.after(wait, resolve));
    requestedAt = clock.elapsed();
    const response = jsonOf(await call({ url: new URL(`${url}/prices/current/${keys.join(',')}`), timeoutMs }));
    const answer = response.status === 'ok' ? ANSWER.safeParse(response.json).data : undefined;
    const failure = response.status !== 'ok' ? response : answer ? null : { status: 'unreadable' as const };
    onResponse?.(failure);
    pausedUntil = clock.elapsed() + (failure ? FAILURE_PAUSE_MS : 0);
    if (!answer) return failure;
    const coins = new Map(Object.entries(answer.coins).map(([key, coin]) => [key.toLowerCase(), coin]));
    for (const key of keys) {
      const before = known.get(key);
      if (before) Object.assign(before, judged(coins.get(key), before));
    }
    return null;
  }

  /** A price that is far from the one of the last hour counts only once a second response has it. */
  function judged(coin: unknown, { last, unconfirmed }: Known): Known {
    const askedAt = clock.elapsed();
    const quote = quoteOf(coin);
    if (!quote) return { askedAt, quote, last, unconfirmed: null };
    const { price } = quote;
    const isJump = last !== null && askedAt - last.heardAt < MAX_AGE_MS && isFarFrom(last.price, price);
    if (isJump && (unconfirmed === null || isFarFrom(unconfirmed, price)))
      return { askedAt, quote: null, last, unconfirmed: price };
    return { askedAt, quote, last: { price, heardAt: askedAt }, unconfirmed: null };
  }

  function quoteOf(coin: unknown): Known['quote'] {
    const read = COIN.safeParse(coin).data;
    const price = plainDecimal(read?.price ?? '');
    if (!read || price === null || !/[1-9]/.test(price) || !(Number(read.confidence) >= MIN_CONFIDENCE)) return null;
    const at = Number(read.timestamp) * SECOND;
    return at <= clock.now() + MAX_AHEAD_MS ? { price, decimals: read.decimals, at } : null;
  }

  function want(keys: readonly string[]): Promise<void> {
    for (const key of keys) wanted.add(key);
    if (clock.elapsed() < pausedUntil) wanted.clear();
    if (wanted.size > 0) running ??= askAll();
    return running ?? Promise.resolve();
  }

  async function askAll(): Promise<void> {
    while (wanted.size > 0) {
      const batch = [...wanted].slice(0, MAX_BATCH);
      const failure = await request(batch);
      for (const key of failure ? [...wanted] : batch) wanted.delete(key);
    }
    running = null;
  }

  const isFresh = ({ askedAt }: Known) => clock.elapsed() - askedAt < CACHE_MS;

  return {
    /** `chain`: the source's name for it. */
    on: (chain: string): ChainPrices => ({
      of(asset, decimals) {
        const found = known.get(keyOf(chain, asset));
        if (!found?.quote || !isFresh(found)) return null;
        const { price, decimals: own = String(decimals), at } = found.quote;
        return String(decimals) === own && clock.now() - at < MAX_AGE_MS ? price : null;
      },
      async ask(assets, waitMs) {
        const keys = assets.map((asset) => keyOf(chain, asset));
        for (const key of keys) {
          const before = known.get(key);
          known.delete(key);
          known.set(key, before ?? { askedAt: Number.NEGATIVE_INFINITY, quote: null, last: null, unconfirmed: null });
          if (known.size > MAX_ASSETS) known.delete(known.keys().next().value!);
        }
        const missing = keys.filter((key) => {
          const found = known.get(key);
          return found && !isFresh(found);
        });
        if (missing.length === 0) return;
        const asked = want(missing);
        await (waitMs === undefined ? asked : inTime(asked, waitMs, clock));
      },
    }),
    probe: (chain: string): Promise<UpstreamFailure | null> => request([keyOf(chain, 'native')]),
    close: stopRefreshing,
  };
}
