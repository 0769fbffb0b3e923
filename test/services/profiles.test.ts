import { type Hex, keccak256 } from 'viem';
import { describe, expect, it } from 'vitest';
import { readLogs } from '../../services/chain/block.ts';
import { outerTransfers } from '../../services/chain/block-transfers.ts';
import {
  MethodMissing,
  type Node,
  type NodeBlock,
  type NodeLog,
  type NodeReceipt,
  type NodeTransaction,
} from '../../services/chain/node.ts';
import { profileOf } from '../../services/chain/profiles.ts';
import { coinMoves } from '../../services/chain/traces.ts';
import { gasOf } from '../../services/notification/event.ts';

const hash = (digit: string): Hex => `0x${digit.repeat(64)}`;
const ALICE: Hex = '0x00000000000000000000000000000000000000A1';
const BOB: Hex = '0x00000000000000000000000000000000000000B0';
const ZERO: Hex = '0x0000000000000000000000000000000000000000';
const WETH: Hex = '0x4200000000000000000000000000000000000006';
const word = (value: bigint | Hex): Hex => `0x${BigInt(value).toString(16).padStart(64, '0')}`;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c';
const WITHDRAWAL = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65';

const transaction = (more: Partial<NodeTransaction> = {}): NodeTransaction => ({
  hash: hash('1'),
  from: ALICE,
  to: BOB,
  value: '0x0',
  nonce: '0x1',
  gas: '0x5208',
  gasPrice: '0xa',
  blockHash: hash('b'),
  blockNumber: '0x10',
  ...more,
});
const block = (more: Partial<NodeBlock> = {}): NodeBlock => ({
  number: '0x10',
  hash: hash('b'),
  parentHash: hash('a'),
  timestamp: '0x65000000',
  transactions: [transaction()],
  ...more,
});
const log = (address: Hex, topics: Hex[], data: Hex, more: Partial<NodeLog> = {}): NodeLog => ({
  address,
  topics,
  data,
  transactionHash: hash('1'),
  logIndex: '0x0',
  ...more,
});
const receipt = (more: Partial<NodeReceipt>): NodeReceipt => ({
  transactionHash: hash('1'),
  gasUsed: '0x64',
  effectiveGasPrice: '0xa',
  contractAddress: null,
  logs: [],
  ...more,
});
/** The Bloom filter of logs: three bits for each address and topic. */
const logsBloomOf = (logs: readonly NodeLog[]): Hex => {
  let bloom = 0n;
  for (const value of logs.flatMap(({ address, topics }) => [address, ...topics])) {
    const bytes = keccak256(value, 'bytes');
    for (const at of [0, 2, 4]) bloom |= 1n << BigInt(((bytes[at]! << 8) | bytes[at + 1]!) & 2047);
  }
  return `0x${bloom.toString(16).padStart(512, '0')}`;
};
const outer = (chainId: string, one: NodeBlock, logs: NodeLog[] = []) => outerTransfers(one, logs, profileOf(chainId));

describe('chains with a profile', () => {
  it('reports the coins that a deposit creates for its sender on the OP Stack', () => {
    const deposit = transaction({ type: '0x7e', mint: '0x64', value: '0x3c', to: BOB });
    const { transfers } = outer('10', block({ transactions: [deposit] }));
    expect(transfers).toMatchObject([
      { kind: 'native', from: ZERO, to: ALICE, value: 100n, place: 'mint', internal: true },
      { kind: 'native', from: ALICE, to: BOB, value: 60n, place: 'transaction', internal: false },
    ]);
  });

  it('adds the fee for the parent chain to gasFee on the OP Stack', () => {
    expect(gasOf(transaction(), receipt({ l1Fee: '0x7' })).gasFee).toBe('1007');
  });

  it('adds what a transaction pays for its blobs to gasFee', () => {
    expect(gasOf(transaction(), receipt({ blobGasUsed: '0x2', blobGasPrice: '0x5' })).gasFee).toBe('1010');
  });

  it('reports wrapping coins as a mint of the wrapped token, and unwrapping as a burn', () => {
    const logs = [
      log(WETH, [DEPOSIT, word(ALICE)], word(5n)),
      log(WETH, [WITHDRAWAL, word(BOB)], word(6n), { logIndex: '0x1' }),
      log(BOB, [DEPOSIT, word(ALICE)], word(7n), { logIndex: '0x2' }),
    ];
    expect(outer('10', block(), logs).transfers).toMatchObject([
      { kind: 'erc20', token: WETH, from: ZERO, to: ALICE, value: 5n },
      { kind: 'erc20', token: WETH, from: BOB, to: ZERO, value: 6n },
    ]);
    expect(outer('31337', block(), logs).transfers).toEqual([]);
  });

  it('reports a payment on zkSync once, by the log of the coin’s contract, and no fee', () => {
    const coin = '0x000000000000000000000000000000000000800a';
    const fees = '0x0000000000000000000000000000000000008001';
    const paying = block({ transactions: [transaction({ value: '0x9' })] });
    const logs = [
      log(coin, [TRANSFER, word(ALICE), word(fees)], word(3n)),
      log(coin, [TRANSFER, word(ALICE), word(BOB)], word(9n), { logIndex: '0x1' }),
    ];
    expect(outer('324', paying, logs).transfers).toMatchObject([{ kind: 'native', from: ALICE, to: BOB, value: 9n }]);
  });

  it('reports the logs of a state sync on Polygon, which belong to no listed transaction', () => {
    const sync = log(BOB, [TRANSFER, word(ZERO), word(ALICE)], word(4n), { transactionHash: hash('5') });
    expect(outer('137', block(), [sync]).transfers).toMatchObject([
      { kind: 'erc20', to: ALICE, value: 4n, txHash: hash('5') },
    ]);
    expect(outer('1', block(), [sync])).toMatchObject({
      transfers: [],
      unreadable: [{ part: 'log', txHash: hash('5') }],
    });
  });

  it('reports withdrawals of the consensus layer, whose amounts are in gwei', () => {
    const withdrawals = [{ index: '0x7', address: BOB, amount: '0x2' }] as const;
    expect(outer('1', block({ withdrawals: [...withdrawals] })).transfers).toMatchObject([
      { kind: 'native', from: ZERO, to: BOB, value: 2_000_000_000n, place: 'withdrawal:7', txHash: hash('b') },
    ]);
  });

  it('reports deposits, escrow and refunds around a transaction on Arbitrum, and not its fees', async () => {
    const result = {
      type: 'CALL',
      from: ALICE,
      to: BOB,
      value: '0x0',
      beforeEVMTransfers: [
        { purpose: 'deposit', from: null, to: ALICE, value: '0x64' },
        { purpose: 'feePayment', from: ALICE, to: null, value: '0x5' },
        { purpose: 'escrow', from: BOB, to: ALICE, value: '0x32' },
      ],
      afterEVMTransfers: [
        { purpose: 'gasRefund', from: null, to: ALICE, value: '0x2' },
        { purpose: 'refund', from: BOB, to: ALICE, value: '0x3' },
      ],
    };
    const movesOf = async (trace: object) => {
      const asked: string[] = [];
      const node: Node = {
        async call(method, _params, accept) {
          asked.push(method);
          const answer = [{ txHash: hash('1'), result: trace }] as never;
          accept?.(answer);
          return answer;
        },
      };
      const moves = await coinMoves(node, block(), profileOf('42161').traces);
      expect(asked).toEqual(['debug_traceBlockByNumber']);
      expect(moves.filter(({ survives }) => !survives)).toEqual([]);
      return moves.map(({ from, to, value, path }) => [from, to, value, path]);
    };
    const [deposit, refund] = [
      [ZERO, ALICE, 100n, 'before0'],
      [BOB, ALICE, 3n, 'after0'],
    ];
    expect(await movesOf(result)).toEqual([deposit, [BOB, ALICE, 50n, 'before1'], refund]);
    // What failed went back into escrow; the refund did not.
    expect(await movesOf({ ...result, error: 'execution reverted' })).toEqual([deposit, refund]);
  });

  it.each(['trace_block', 'debug_traceBlockByNumber'])(
    'Polygon: reads %s of a block whose state sync has no trace',
    async (offered) => {
      const sync = transaction({ hash: hash('9'), from: ZERO, to: ZERO, gas: '0x0' });
      const paid = { from: ALICE, to: BOB, value: '0x5' };
      const answers: Record<string, object[]> = {
        trace_block: [
          { type: 'call', action: { callType: 'call', ...paid }, traceAddress: [], transactionHash: hash('1') },
          { type: 'call', action: { callType: 'call', ...paid }, traceAddress: [0], transactionHash: hash('1') },
        ],
        debug_traceBlockByNumber: [{ result: { type: 'CALL', ...paid, calls: [{ type: 'CALL', ...paid }] } }],
      };
      const node: Node = {
        async call(method, _params, accept) {
          if (method !== offered) throw new MethodMissing(method);
          accept?.(answers[method] as never);
          return answers[method] as never;
        },
      };
      const moves = await coinMoves(node, block({ transactions: [sync, transaction()] }), profileOf('137').traces);
      expect(moves).toMatchObject([{ txHash: hash('1'), value: 5n, path: '0' }]);
    },
  );

  it('Polygon: takes what a state sync moves from its logs alone, also where a node traces it', async () => {
    const sync = transaction({ hash: hash('9'), from: ZERO, to: ZERO, gas: '0x0' });
    const paid = (txHash: Hex) => ({
      txHash,
      result: { type: 'CALL', from: ALICE, to: BOB, calls: [{ type: 'CALL', from: ALICE, to: BOB, value: '0x5' }] },
    });
    const traces = [paid(hash('9')), paid(hash('1')), paid(hash('8'))];
    const node: Node = {
      async call(method, _params, accept) {
        if (method !== 'debug_traceBlockByNumber') throw new MethodMissing(method);
        accept?.(traces as never);
        return traces as never;
      },
    };
    const moves = await coinMoves(node, block({ transactions: [sync, transaction()] }), profileOf('137').traces);
    expect(moves).toMatchObject([{ txHash: hash('1'), value: 5n }]);
  });

  it('Polygon: takes all receipts of a block at once, although its Bloom filter lacks the logs of its state sync', async () => {
    const sync = transaction({ hash: hash('9'), from: ZERO, to: ZERO, gas: '0x0', gasPrice: '0x0' });
    const moved = (txHash: Hex) => log(BOB, [TRANSFER, word(ZERO), word(ALICE)], word(4n), { transactionHash: txHash });
    const receipts = [
      receipt({ logs: [log(BOB, [TRANSFER, word(BOB), word(ALICE)], word(4n))] }),
      receipt({ transactionHash: hash('9'), logs: [moved(hash('9'))] }),
    ];
    const asked: string[] = [];
    const node: Node = {
      async call(method, _params, accept) {
        asked.push(method);
        if (method !== 'eth_getBlockReceipts') throw new MethodMissing(method);
        accept?.(receipts as never);
        return receipts as never;
      },
    };
    const logsBloom = logsBloomOf(receipts[0]!.logs);
    const one = block({ transactions: [transaction(), sync], logsBloom });
    expect((await readLogs(node, one, true)).logs).toHaveLength(2);
    expect(asked).toEqual(['eth_getBlockReceipts']);
    // A log that the Bloom filter has is still missed.
    receipts[0]!.logs = [];
    await expect(readLogs(node, one, true)).rejects.toThrow('eth_getTransactionReceipt');
  });

  it('quarantines a transaction with an unknown address format and reads the others', () => {
    const foreign = transaction({
      hash: hash('2'),
      to: 'xdc00000000000000000000000000000000000000b0' as Hex,
      value: '0x1',
    });
    const { transfers, unreadable } = outer('50', block({ transactions: [foreign, transaction({ value: '0x2' })] }));
    expect(transfers).toMatchObject([{ value: 2n }]);
    expect(unreadable).toMatchObject([
      { part: 'transaction', txHash: hash('2'), bytes: expect.stringContaining('xdc0') },
    ]);
  });
});
