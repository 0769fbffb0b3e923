/** A price source for the bot, with the shape of DefiLlama's `GET /prices/current/{coins}`. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HOUR, SECOND } from '../src/domain/clock.ts';
import type { Chain } from './chain/index.ts';
import type { PriceFault } from './page/protocol.ts';

const COIN = `0x${'0'.repeat(40)}`;
/** Prices of an hour ago and more count as unknown. */
const OLD_MS = 2 * HOUR;

export type PriceSource = Awaited<ReturnType<typeof startPrices>>;

/** Knows the coin, the dollar and the bell token, whatever the chain's name in the request. */
export async function startPrices({ dollar, bell }: Pick<Chain['tokens'], 'dollar' | 'bell'>) {
  let fault: PriceFault = 'none';
  const known = new Map([
    [COIN, { price: 2_412.35, decimals: 18, symbol: 'HARBOR' }],
    [dollar.address.toLowerCase(), { price: 0.9998, decimals: dollar.decimals, symbol: dollar.symbol }],
    [bell.address.toLowerCase(), { price: 0.42, decimals: bell.decimals, symbol: bell.symbol }],
  ]);
  const coinOf = (key: string) => {
    const found = known.get(key.split(':').at(-1)!.toLowerCase());
    const timestamp = Math.floor((Date.now() - (fault === 'old' ? OLD_MS : 0)) / SECOND);
    const times = fault === 'wrong' ? 1_000 : 1;
    return found ? [[key, { ...found, price: found.price * times, timestamp, confidence: 0.99 }]] : [];
  };
  const server = createServer(({ url = '' }, response) => {
    const [, keys] = /^\/prices\/current\/([^?]+)/.exec(decodeURIComponent(url)) ?? [];
    response.writeHead(fault === 'away' ? 503 : keys === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ coins: Object.fromEntries((keys ?? '').split(',').flatMap(coinOf)) }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: () => fault,
    setFault: (next: PriceFault) => {
      fault = next;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
