import type { Hex } from 'viem';
import { expect, it } from 'vitest';
import { rpcOf } from '../../sandbox/chain/rpc.ts';
import { readBlock } from '../../services/chain/block.ts';
import type { NodeBlock } from '../../services/chain/node.ts';
import { connect } from '../../services/chain/nodes.ts';
import { coinMoves, coinMovesOf } from '../../services/chain/traces.ts';
import { nodeWith } from './fake-node.ts';
import { surroundings } from './harness.ts';

const here = surroundings();
const [call, callcode, delegatecall, staticcall] = ['f1', 'f2', 'f4', 'fa'];
const THEN_FAIL = '60006000fd';

/** Byte code that calls an address, with coins where that is possible, and ignores the outcome. */
function calling(opcode: string | undefined, to: string, coins = 0): string {
  const value = opcode === call || opcode === callcode ? `60${coins.toString(16).padStart(2, '0')}` : '';
  return `6000600060006000${value}73${to.slice(2)}5a${opcode}50`;
}

it.each(['trace_block', 'debug_traceBlockByNumber'] as const)(
  'reads exactly the coins that moved with %s',
  async (method) => {
    const { chain } = here;
    const { Alice, Grants } = chain.wallets;
    const rpc = rpcOf(chain.rpcUrl);
    const node = connect(chain.rpcUrl);
    const at = (index: number) => `0x${(0xc0de00 + index).toString(16).padStart(40, '0')}`;
    const contracts = [
      { does: calling(call, Grants, 5), sent: [5n] },
      { does: calling(call, Grants, 0), sent: [] },
      { does: calling(callcode, Grants, 5), sent: [] },
      { does: calling(delegatecall, Grants), sent: [] },
      { does: calling(staticcall, Grants), sent: [] },
      { does: calling(call, Grants, 5) + THEN_FAIL, sent: [] },
      { does: calling(call, at(5)) + calling(call, Grants, 6), sent: [6n] },
      { does: calling(delegatecall, at(0)), sent: [5n] },
      { does: `73${Grants.slice(2)}ff`, sent: [100n] },
      { does: '600060006007f0', sent: [7n] },
      { does: '30ff', sent: [] },
    ];
    for (const [index, { does, sent }] of contracts.entries()) {
      const to = at(index);
      await rpc('anvil_setCode', [to, `0x${does}`]);
      await rpc('anvil_setBalance', [to, '0x64']);
      const hash = await rpc<`0x${string}`>('eth_sendTransaction', [{ from: Alice, to, gas: '0x100000' }]);
      await rpc('evm_mine');
      const block = await readBlock(node, Number(await rpc('eth_blockNumber')));
      const moves = await coinMoves(node, block, { first: method });
      expect(moves.map(({ from, value }) => [from, value])).toEqual(sent.map((value) => [to, value]));
      expect(await coinMovesOf(node, hash, { first: method })).toEqual(moves);
    }
    node.close();
  },
);

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
