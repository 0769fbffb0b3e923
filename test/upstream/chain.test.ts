import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import type { AddressText } from '../../src/domain/address.ts';
import type { ChainBlock } from '../../src/domain/chain-node.ts';
import { createChain } from '../../src/upstream/chain.ts';
import { type Asked, type Reply, startFakeNode } from '../services/fake-node.ts';

const addressOf = (digit: string): AddressText => `0x${digit.repeat(40)}`;
const [A, B, TOKEN] = [addressOf('1'), addressOf('2'), addressOf('3')];
const BLOCK = { number: '0x5', hash: '0xb', timestamp: '0x0', transactions: [{ hash: '0xa' }] } as ChainBlock;

async function start(replies: ((asked: Asked) => Reply)[], rate = 999_999_999) {
  const clock = createManualClock();
  const nodes = await Promise.all(replies.map(startFakeNode));
  for (const node of nodes) onTestFinished(node.close);
  const chain = createChain({ urls: nodes.map(({ url }) => url), rate, clock });
  return { chain, clock, asked: (node: number) => nodes[node]!.asked.map(({ method }) => method) };
}

it('makes no more calls a second than it may', async () => {
  const { chain, clock } = await start([() => ({ result: '0x1' })], 5);
  const [first, ...others] = [1, 2, 3].map(() => chain.latest());
  await first;
  for (const one of others) {
    expect(clock.untilNext()).toBe(200);
    clock.advance(200);
    await one;
  }
});

it('asks the next node when one fails, and stays with it', async () => {
  const { chain, asked } = await start([() => ({ status: 503 }), () => ({ result: '0x7' })]);
  expect([await chain.latest(), await chain.latest()]).toEqual([7, 7]);
  expect([asked(0).length, asked(1).length]).toEqual([1, 2]);
});

it.each<[string, Reply]>([
  ['away', { status: 503 }],
  ['away', { error: { code: -32005, message: 'daily request count exceeded, request rate limited' } }],
  ['away', { error: { code: -32000, message: 'Too Many Requests' } }],
  ['refused', { error: { code: -32005, message: 'query returned more than 10000 results' } }],
  ['refused', { error: { code: -32602, message: 'eth_getLogs is limited to a 10,000 range' } }],
  ['pruned', { error: { code: -32000, message: 'missing trie node 0xabc (path ) state is not available' } }],
  ['unsupported', { error: { code: -32601, message: 'no' } }],
  ['unsupported', { error: { code: -32000, message: 'the method is not available' } }],
])('knows that a node is %s', async (failure, reply) => {
  const { chain } = await start([() => reply]);
  await expect(chain.logs({ after: 0, upTo: 1 }, {})).rejects.toMatchObject({ failure });
});

it('refuses logs of other blocks than it asked for', async () => {
  const { chain } = await start([() => ({ result: [{ blockNumber: '0x3' }] })]);
  await expect(chain.logs({ after: 1, upTo: 2 }, {})).rejects.toMatchObject({ failure: 'refused' });
});

const inner = { type: 'CALL', from: A, to: B, value: '0x5' };
const parity = (traceAddress: number[], more: object = {}) => ({
  type: 'call',
  action: { from: A, to: B, value: '0x5' },
  traceAddress,
  transactionHash: '0xa',
  ...more,
});
it.each<[string, string, unknown[], string[]]>([
  [
    'a node like Geth',
    'debug_traceBlockByNumber',
    [
      {
        result: {
          ...inner,
          calls: [
            inner,
            { ...inner, type: 'DELEGATECALL' },
            { ...inner, error: 'reverted', calls: [inner] },
            { ...inner, value: '0x0', calls: [{ ...inner, type: 'SELFDESTRUCT' }] },
          ],
        },
      },
    ],
    ['0', '3.0'],
  ],
  [
    'a node with trace_block',
    'trace_block',
    [
      parity([]),
      parity([0]),
      parity([1], { error: 'Reverted' }),
      parity([1, 0]),
      parity([2], { action: { from: A, to: B, value: '0x5', callType: 'delegatecall' } }),
      parity([3], { type: 'suicide', action: { address: A, refundAddress: B, balance: '0x5' } }),
      parity([4], { type: 'create', action: { from: A, value: '0x5' }, result: { address: B } }),
    ],
    ['0', '3', '4'],
  ],
])('reads the payments inside of transactions from %s', async (_, supported, result, paths) => {
  const unknown = { error: { code: -32601, message: 'unknown' } };
  const { chain } = await start([({ method }) => (method === supported ? { result } : unknown)]);
  const payment = { txHash: '0xa', from: A, to: B, value: 5n };
  expect(await chain.payments(BLOCK)).toEqual(paths.map((path) => ({ ...payment, path })));
});

it('reads balances one by one at a node that runs no code', async () => {
  const word = `0x${'9'.padStart(64, '0')}`;
  const { chain, asked } = await start([
    ({ method, params: [call] }) =>
      method === 'eth_getBalance' || (call as { to?: string }).to !== undefined
        ? { result: word }
        : { error: { code: -32602, message: 'to is missing' } },
  ]);
  expect(await chain.balances(5, [A, B])).toEqual(new Map([A, B].map((address) => [address, 9n])));
  const tokens = [A, B].map((address) => ({ address, asset: TOKEN }));
  expect(await chain.holdings(5, tokens)).toEqual([9n, 9n]);
  expect(asked(0)).toEqual(['eth_call', 'eth_getBalance', 'eth_getBalance', 'eth_call', 'eth_call', 'eth_call']);
});
