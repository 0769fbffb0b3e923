import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { startPrices } from '../../sandbox/prices.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { createPrices } from '../../src/upstream/prices.ts';

const DOLLAR = '0x00000000000000000000000000000000000000dd';
const TOKEN = { address: DOLLAR, type: 'ERC-20', name: 'Dollar', symbol: 'HUSD', decimals: 6 } as const;

it('has prices that the bot believes, and none that it does while the source is away, wrong or old', async () => {
  const source = await startPrices({ dollar: TOKEN, bell: TOKEN });
  onTestFinished(source.close);
  const clock = createManualClock(Date.now());
  const client = createPrices({ url: source.url, clock });
  onTestFinished(client.close);
  const prices = client.on('harbor');
  const seen: (string | null)[] = [];
  for (const fault of ['none', 'away', 'wrong', 'old', 'none'] as const) {
    source.setFault(fault);
    await prices.ask(['native', DOLLAR]);
    seen.push(prices.of('native', 18));
    clock.advance(5 * MINUTE);
  }
  expect(seen).toEqual(['2412.35', null, null, null, '2412.35']);
});
