import { zeroAddress } from 'viem';
import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/clock.ts';
import type { NodeBlock } from '../../services/chain/node.ts';
import type { Transfer } from '../../services/chain/transfers.ts';
import { deliveriesOf, type Match } from '../../services/notification/match.ts';
import { HARBOR, limitedSurroundings } from './harness.ts';

const here = limitedSurroundings({ watches: false });
const { pay, scan, watch } = here;

const attempts = () => {
  const counted = { count: 0 };
  here.services.notification.onProgress(({ type }) => {
    if (type === 'attempted') counted.count++;
  });
  return counted;
};
const paused = async () => (await here.services.ready()).pausedReceivers;

it.each([1, 3])('sends %i deliveries of a webhook at the same time when it allows that many', async (parallel) => {
  await watch({ parallel });
  here.receiver.answer(null);
  const made = attempts();
  await here.chain.burst(8, { from: 'Alice', to: 'Treasury' });
  await scan();
  await here.receiver.until(parallel);
  expect(made.count).toBe(parallel);
  here.receiver.answer(200);
  here.receiver.release(200);
  await here.services.sent();
  expect(here.receiver.received).toHaveLength(8);
});

it('pauses a receiver after five timeouts, then tries it with one delivery at a time', async () => {
  await watch({ parallel: 5 });
  here.receiver.answer(null);
  const made = attempts();
  await here.chain.burst(20, { from: 'Alice', to: 'Treasury' });
  await scan();
  await here.receiver.until(5);
  here.advance(3_000);
  await expect.poll(paused, { message: 'one webhook is paused', timeout: 60_000 }).toBe(1);
  expect(made.count).toBe(5);
  here.advance(5_000);
  await here.receiver.until(6);
  expect(made.count).toBe(6);
  here.receiver.answer(200);
  here.receiver.release(200);
  await here.receiver.until(16);
  await expect.poll(paused, { message: 'no webhook is paused', timeout: 60_000 }).toBe(0);
});

it('puts the first 16 events of each transaction before the rest', () => {
  const hash = (digit: string) => `0x${digit.repeat(64)}` as const;
  const settings = { confirmations: 0, withdrawals: false, parallel: 1, fromBlock: null } as const;
  const receiver = { id: 'one', projectId: HARBOR.id, url: here.receiver.url, eventType: 'ALL' } as const;
  const match = (txHash: `0x${string}`, at: number): Match => {
    const common = { txHash, from: zeroAddress, to: zeroAddress, place: `trace:${at}` };
    const transfer: Transfer = { ...common, kind: 'native', internal: true, value: 1n };
    return { transfer, role: 'to', webhook: { ...receiver, ...settings } };
  };
  const flood = Array.from({ length: 400 }, (_, at) => match(hash('1'), at));
  const { deliveries } = deliveriesOf([...flood, match(hash('2'), 0)], {
    block: { hash: hash('b'), number: '0x1', transactions: [] } as unknown as NodeBlock,
    receipts: new Map(),
    factsOf: () => undefined,
    style: { nativeSymbol: 'NATIVE', strict: false },
    clock: createManualClock(),
    delayMs: 0,
  });
  const ranks = deliveries.map(({ rank }) => rank);
  expect([0, 15, 16, 255, 256, 399, 400].map((at) => ranks[at])).toEqual([0, 0, 1, 1, 2, 2, 0]);
});

it('reads new blocks while the explorer has used up its share of the calls', async () => {
  // The clock stands still, so what is used up stays so.
  await here.restart({ chains: [{ nodes: [{ url: here.chain.rpcUrl }], perSecond: 1_000 }] });
  await watch();
  const { address } = here.chain.tokens.dollar;
  const query = `module=token&action=getToken&contractaddress=${address}`;
  let answered = 0;
  const lookups = Array.from({ length: 60 }, async () => {
    const response = await fetch(`${here.services.explorerApiUrl}?${query}`).catch(() => null);
    if (response?.ok) answered++;
  });
  await pay(1n);
  await scan();
  await here.receiver.until(1);
  expect(answered).toBeLessThan(60);
  await here.services.close();
  await Promise.all(lookups);
});
