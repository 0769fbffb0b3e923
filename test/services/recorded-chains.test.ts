import { concat, type Hex, keccak256, numberToHex, slice, stringToHex } from 'viem';
import { expect, it, onTestFinished } from 'vitest';
import type { NodeBlock, NodeReceipt } from '../../services/chain/node.ts';
import { temporaryFolder } from '../folder.ts';
import { startFakeNode } from './fake-node.ts';
import { startHarness } from './harness.ts';
import { startReceiver } from './receiver.ts';
import {
  ARBITRUM_DEPOSIT,
  BASE_DEPOSIT,
  blockOf,
  DEGEN_RETRYABLE,
  POLYGON_STATE_SYNC,
  transactionOf,
  ZKSYNC_PAYMENT,
} from './records.ts';

const ZERO: Hex = '0x0000000000000000000000000000000000000000';
const HASH: Hex = `0x${'a'.repeat(64)}`;

interface RecordedChain {
  chainId: number;
  block: NodeBlock;
  receipts: readonly NodeReceipt[];
  /** The response to debug_traceBlockByNumber; without it the node does not trace. */
  traces?: readonly object[];
}

/** A block's events for an address (direction, from, to, value, internal), and the requests to the node. */
async function postedOf({ chainId, block, receipts, traces }: RecordedChain, watched: Hex) {
  const number = Number(block.number);
  const parent = { number: numberToHex(number - 1), hash: block.parentHash, parentHash: HASH, timestamp: '0x1' };
  let height = number - 1;
  const blockAt = (tag: unknown): object | null => {
    if (tag === '0x0') return { ...parent, number: '0x0', hash: HASH, transactions: [] };
    const wanted = tag === 'latest' ? height : Number(tag);
    if (wanted > height) return null;
    return wanted === number ? block : { ...parent, number: numberToHex(wanted), transactions: [] };
  };
  const node = await startFakeNode(({ method, params: [first] }) => {
    if (method === 'eth_chainId') return { result: numberToHex(chainId) };
    if (method === 'eth_blockNumber') return { result: numberToHex(height) };
    if (method === 'eth_getBlockByNumber') return { result: blockAt(first) };
    if (method === 'eth_getBlockReceipts') return { result: receipts };
    if (method === 'eth_getTransactionReceipt') {
      return { result: receipts.find(({ transactionHash }) => transactionHash === first) ?? null };
    }
    if (method === 'debug_traceBlockByNumber' && traces) return { result: traces };
    return { error: { code: -32601, message: 'the method is not available' } } as never;
  });
  onTestFinished(node.close);
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const services = await startHarness({ rpcUrl: node.url, dir: temporaryFolder() });
  onTestFinished(services.close);
  await services.watch(receiver.url, [watched]);
  await services.notification.scan();
  height = number;
  await services.notification.scan();
  await services.sent();
  expect((await services.ready()).gaps).toEqual([]);
  const posted = receiver
    .events()
    .map(({ direction, from, to, value, isInternalTransaction = false, txHash, blockHash }) => {
      expect(blockHash).toBe(block.hash);
      expect(txHash).toMatch(/^0x[0-9a-f]{64}$/);
      return [direction, String(from).toLowerCase(), String(to).toLowerCase(), value, isInternalTransaction];
    })
    .sort();
  return { posted, asked: node.asked.map(({ method }) => method) };
}

const untraced = (block: NodeBlock) =>
  block.transactions.map(({ hash, from, to, value }) => ({ txHash: hash, result: { type: 'CALL', from, to, value } }));

const base = { chainId: 8453, ...BASE_DEPOSIT, traces: untraced(BASE_DEPOSIT.block) };
const baseUser = BASE_DEPOSIT.block.transactions[1]!.from;
const failed = BASE_DEPOSIT.receipts.map((one) => ({ ...one, status: '0x0' as const }));

const arbitrumDeposit = ARBITRUM_DEPOSIT.block.transactions[1]!;
/** No public record of this trace was found: it is made as Arbitrum's nodes make it. */
const arbitrumTraces = untraced(ARBITRUM_DEPOSIT.block).map((one) => {
  const created = { purpose: 'deposit', from: null, to: arbitrumDeposit.from, value: arbitrumDeposit.value };
  const transfers = { beforeEVMTransfers: [created], afterEVMTransfers: [] };
  return one.txHash === arbitrumDeposit.hash ? { ...one, result: { ...one.result, ...transfers } } : one;
});

const { transaction: retryable, trace } = DEGEN_RETRYABLE;
const degenUser = '0xfdaf8f210d52a3f8ee416ad06ff4a0868bb649d4';
const degenEscrow = slice(keccak256(concat([stringToHex('retryable escrow'), retryable.hash])), 12);
const degen = (status: Hex): RecordedChain => ({
  chainId: 666_666_666,
  block: blockOf([retryable]),
  receipts: [{ ...BASE_DEPOSIT.receipts[0]!, transactionHash: retryable.hash, status }],
  traces: [{ txHash: retryable.hash, result: trace }],
});
/** The sender keeps nothing: what it deposits is the sum of what goes on. */
const submitted = [
  ['incoming', ZERO, retryable.from, '220673735480050420734', true],
  ['outgoing', retryable.from, degenEscrow, '105082731166685676540', true],
  ['outgoing', retryable.from, degenUser, '115591004283354244194', true],
  ['outgoing', retryable.from, degenUser, '30010500000', true],
];

const logsBloom: Hex = `0x${'0'.repeat(512)}`;
const polygonUser = '0xdc7da6884ff2c90c713724e2baa6ab134983927d';
const polygon: RecordedChain = {
  chainId: 137,
  block: blockOf([], {
    number: POLYGON_STATE_SYNC.blockNumber,
    hash: POLYGON_STATE_SYNC.blockHash,
    receiptsRoot: BASE_DEPOSIT.block.receiptsRoot!,
    logsBloom,
  }),
  receipts: [POLYGON_STATE_SYNC],
};

it.each<[what: string, chain: RecordedChain, watched: Hex, posted: unknown[][]]>([
  [
    'the coins that a deposit on Base creates, and its payment to itself',
    base,
    baseUser,
    [
      ['incoming', ZERO, baseUser, '19178228000000000', true],
      ['incoming', baseUser, baseUser, '19178228000000000', false],
      ['outgoing', baseUser, baseUser, '19178228000000000', false],
    ],
  ],
  [
    'the coins that a deposit on Base creates when the deposit fails, and no payment',
    { ...base, receipts: failed },
    baseUser,
    [['incoming', ZERO, baseUser, '19178228000000000', true]],
  ],
  [
    'a deposit on Arbitrum One to its receiver',
    { chainId: 42161, ...ARBITRUM_DEPOSIT, traces: arbitrumTraces },
    arbitrumDeposit.to!,
    [['incoming', arbitrumDeposit.from, arbitrumDeposit.to, '8374552015335015', false]],
  ],
  [
    'what a retryable deposits, keeps and refunds when its submission succeeds',
    degen('0x1'),
    retryable.from,
    submitted,
  ],
  ['the same when its submission fails', degen('0x0'), retryable.from, submitted],
  [
    'coins of a state sync on Polygon, which the block’s Bloom filter does not know',
    polygon,
    polygonUser,
    [['incoming', '0x0000000000000000000000000000000000001010', polygonUser, '1772043931424358792936', true]],
  ],
])('posts %s', async (_what, chain, watched, posted) => {
  expect((await postedOf(chain, watched)).posted).toEqual(posted);
});

it('posts a payment on zkSync, although its Bloom filter is empty, and asks for no traces', async () => {
  const transaction = transactionOf(ZKSYNC_PAYMENT, BigInt(ZKSYNC_PAYMENT.logs[1]!.data));
  const none: Hex = `0x${'0'.repeat(64)}`;
  const block = blockOf([transaction], { number: '0xfdb944', transactionsRoot: none, receiptsRoot: none, logsBloom });
  const passing = '0x9b896c0e23220469c7ae69cb4bbae391eaa4c8da';
  const { posted, asked } = await postedOf({ chainId: 324, block, receipts: [ZKSYNC_PAYMENT] }, passing);
  expect(posted).toEqual([
    ['incoming', transaction.to, passing, '319464906174152', false],
    ['outgoing', passing, '0x042b8289c97896529ec2fe49ba1a8b9c956a86cc', '319464906174152', false],
  ]);
  expect(asked.filter((method) => /trace/.test(method))).toEqual([]);
});
