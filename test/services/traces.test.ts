import { expect, it } from 'vitest';
import { rpcOf } from '../../sandbox/chain/driver.ts';
import { readBlock } from '../../services/chain/block.ts';
import { connect } from '../../services/chain/nodes.ts';
import { coinMoves, coinMovesOf } from '../../services/chain/traces.ts';
import { HAS_ANVIL } from '../chain/has-anvil.ts';
import { surroundings } from './harness.ts';

const here = surroundings();
const [call, callcode, delegatecall, staticcall] = ['f1', 'f2', 'f4', 'fa'];
const THEN_FAIL = '60006000fd';

/** Byte code that calls an address, with coins where that is possible, and ignores the outcome. */
function calling(opcode: string | undefined, to: string, coins = 0): string {
  const value = opcode === call || opcode === callcode ? `60${coins.toString(16).padStart(2, '0')}` : '';
  return `6000600060006000${value}73${to.slice(2)}5a${opcode}50`;
}

it.skipIf(!HAS_ANVIL).each(['trace_block', 'debug_traceBlockByNumber'] as const)(
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
