import { type Hex, numberToHex, pad } from 'viem';
import { describe, expect, it } from 'vitest';
import { readLogs } from '../../services/chain/block.ts';
import { outerTransfers } from '../../services/chain/block-transfers.ts';
import {
  hasFailed,
  type NodeBlock,
  type NodeLog,
  type NodeReceipt,
  type NodeTransaction,
} from '../../services/chain/node.ts';
import { profileOf } from '../../services/chain/profiles.ts';
import { coinMoves } from '../../services/chain/traces.ts';
import { RECEIVER_TOPIC } from '../../services/chain/transfers.ts';
import { nodeWith } from './fake-node.ts';
import { GNOSIS_WRAP } from './records.ts';

const word = (value: bigint | Hex): Hex => pad(typeof value === 'bigint' ? numberToHex(value) : value, { size: 32 });
const hash = (digit: string): Hex => `0x${digit.repeat(64)}`;
const ALICE: Hex = '0x00000000000000000000000000000000000000A1';
const BOB: Hex = '0x00000000000000000000000000000000000000B0';
const ZERO: Hex = '0x0000000000000000000000000000000000000000';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

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
const outer = (chainId: string, one: NodeBlock, logs: NodeLog[] = []) => outerTransfers(one, logs, profileOf(chainId));

describe('chains with a profile', () => {
  it('reports the coins that the bridge creates on Gnosis, by the log of the block reward contract', () => {
    const reward = '0x481c034c6d9441db23ea48de68bcae812c5d39ba';
    const logs = [log(reward, [RECEIVER_TOPIC, word(ALICE), word(BOB)], word(5n))];
    const created = { kind: 'native', from: ZERO, to: ALICE, value: 5n, place: 'log:0' };
    expect(outer('100', block(), logs).transfers).toMatchObject([created]);
    expect(outer('100', block(), [{ ...logs[0]!, address: BOB }]).transfers).toEqual([]);
    expect(outer('1', block(), logs).transfers).toEqual([]);
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
      const node = nodeWith({ debug_traceBlockByNumber: [{ txHash: hash('1'), result: trace }], trace_block: [] });
      const moves = await coinMoves(node, block(), profileOf('42161').traces);
      expect(node.asked).toEqual(['debug_traceBlockByNumber']);
      expect(moves.filter(({ survives }) => !survives)).toEqual([]);
      return moves.map(({ from, to, value, path }) => [from, to, value, path]);
    };
    const [deposit, refund] = [
      [ZERO, ALICE, 100n, 'before0'],
      [BOB, ALICE, 3n, 'after0'],
    ];
    expect(await movesOf(result)).toEqual([deposit, [BOB, ALICE, 50n, 'before1'], refund]);
    // The failed payment went back into escrow; the refund did not.
    expect(await movesOf({ ...result, error: 'execution reverted' })).toEqual([deposit, refund]);
  });

  const paid = { from: ALICE, to: BOB, value: '0x5' };
  const result = { type: 'CALL', ...paid, calls: [{ type: 'CALL', ...paid }] };
  const call = { type: 'call', action: { callType: 'call', ...paid }, transactionHash: hash('1') };
  it.each([
    ['trace_block', [[], [0]].map((traceAddress) => ({ ...call, traceAddress }))],
    ['debug_traceBlockByNumber', [{ result }]],
    ['debug_traceBlockByNumber', ['9', '1', '8'].map((digit) => ({ txHash: hash(digit), result }))],
  ])(
    'Polygon: takes what a state sync moves from its logs alone, with or without a trace of it (%#)',
    async (...node) => {
      const sync = transaction({ hash: hash('9'), from: ZERO, to: ZERO, gas: '0x0' });
      const tracing = nodeWith(Object.fromEntries([node]));
      const moves = await coinMoves(tracing, block({ transactions: [sync, transaction()] }), profileOf('137').traces);
      expect(moves).toMatchObject([{ txHash: hash('1'), value: 5n, path: '0' }]);
    },
  );

  it('Polygon: takes all receipts of a block at once, although its Bloom filter lacks the logs of its state sync', async () => {
    const sync = transaction({ hash: hash('9'), from: ZERO, to: ZERO, gas: '0x0', gasPrice: '0x0' });
    const moved = log(BOB, [TRANSFER, word(ZERO), word(ALICE)], word(4n), { transactionHash: hash('9') });
    const ofSync = receipt({ transactionHash: hash('9'), logs: [moved] });
    const { transactionHash, logsBloom } = GNOSIS_WRAP.receipt;
    const one = block({ transactions: [transaction({ hash: transactionHash }), sync], logsBloom });
    const node = nodeWith({ eth_getBlockReceipts: [GNOSIS_WRAP.receipt, ofSync] });
    expect((await readLogs(node, one, true)).logs).toHaveLength(2);
    expect(node.asked).toEqual(['eth_getBlockReceipts']);
    // A log that the Bloom filter has is still missed.
    const lacking = nodeWith({ eth_getBlockReceipts: [{ ...GNOSIS_WRAP.receipt, logs: [] }, ofSync] });
    await expect(readLogs(lacking, one, true)).rejects.toThrow('eth_getTransactionReceipt');
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

describe('a receipt older than Byzantium, which does not say whether the transaction failed', () => {
  const old = (more: Partial<NodeReceipt> = {}) => receipt({ root: hash('e'), gasUsed: '0xc350', ...more });
  const calling = transaction({ gas: '0xc350', input: '0xdeadbeef' });
  it.each([
    ['all gas of a call', calling, old(), true],
    ['all gas of a deployment', { ...calling, to: null }, old(), false],
    ['all gas, after a log', calling, old({ logs: [log(BOB, [TRANSFER], '0x')] }), false],
    ['less gas than it was given', calling, old({ gasUsed: '0xc34f' }), false],
    ['just what a payment needs', transaction(), old({ gasUsed: '0x5208' }), false],
    ['all gas, but it has a status', calling, old({ status: '0x1' }), false],
    ['little gas, but it has a status', calling, old({ status: '0x0', gasUsed: '0x1' }), true],
  ])('judges by the gas: %s', (_, given, found, failed) => {
    expect(hasFailed(given, found)).toBe(failed);
  });
});
