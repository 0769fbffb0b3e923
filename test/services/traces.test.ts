import type { Hex } from 'viem';
import { expect, it } from 'vitest';
import type { NodeBlock } from '../../services/chain/node.ts';
import { coinMoves } from '../../services/chain/traces.ts';
import { nodeWith } from './fake-node.ts';

const [hash, payer, contract]: Hex[] = [`0x${'1'.repeat(64)}`, `0x${'a'.repeat(40)}`, `0x${'c'.repeat(40)}`];
const block = { number: '0x1', hash: `0x${'b'.repeat(64)}`, transactions: [{ hash, from: payer, gas: '0x5208' }] };
const root = { type: 'call', action: { callType: 'call', from: payer, to: contract, value: '0x0' } };
const frame = (traceAddress: number[], change: object = {}) => ({
  ...root,
  transactionHash: hash,
  traceAddress,
  ...change,
});
const movesFrom = (results: Record<string, unknown>) => coinMoves(nodeWith(results), block as unknown as NodeBlock);

it('reads no payment where a contract destroys itself in favor of itself', async () => {
  const action = { address: contract, refundAddress: contract, balance: '0x7' };
  const frames = [frame([], { subtraces: 1 }), frame([0], { type: 'suicide', action })];
  expect(await movesFrom({ trace_block: frames })).toEqual([]);
  const calls = [{ type: 'SELFDESTRUCT', from: contract, to: contract, value: '0x7' }];
  const result = { type: 'CALL', from: payer, to: contract, value: '0x0', calls };
  expect(await movesFrom({ debug_traceBlockByNumber: [{ txHash: hash, result }] })).toEqual([]);
});

it.each([
  ['the frame above another', [frame([]), frame([0, 0])]],
  ['a frame below another', [frame([], { subtraces: 1 })]],
])('rejects traces that lack %s', async (_what, frames) => {
  await expect(movesFrom({ trace_block: frames })).rejects.toThrow(/only some traces/);
});
