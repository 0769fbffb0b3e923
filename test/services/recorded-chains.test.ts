import { type Hex, numberToHex } from 'viem';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { NodeBlock, NodeReceipt } from '../../services/chain/node.ts';
import { temporaryFolder } from '../folder.ts';
import { type FakeNode, startFakeNode } from './fake-node.ts';
import { type Harness, startHarness } from './harness.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { ARBITRUM_DEPOSIT, BASE_DEPOSIT, DEGEN_RETRYABLE, POLYGON_STATE_SYNC, ZKSYNC_PAYMENT } from './records.ts';

/** The services, reading recorded blocks from a node that knows nothing else. */

const ZERO: Hex = '0x0000000000000000000000000000000000000000';
const HASH: Hex = `0x${'a'.repeat(64)}`;

let folder: string;
let receiver: Receiver;
let services: Harness;
let node: FakeNode;
beforeEach(async () => {
  folder = temporaryFolder();
  receiver = await startReceiver();
});
afterEach(async () => {
  await services.close();
  node.close();
  await receiver.close();
});

interface RecordedChain {
  chainId: number;
  block: NodeBlock;
  receipts: readonly NodeReceipt[];
  /** What debug_traceBlockByNumber returns; without them the node does not trace. */
  traces?: readonly object[];
}

/** What the services post about a block to a webhook that watches an address: direction, from, to, value, internal. */
async function postedOf({ chainId, block, receipts, traces }: RecordedChain, watched: Hex): Promise<unknown[]> {
  const number = Number(block.number);
  const parent = { number: numberToHex(number - 1), hash: block.parentHash, parentHash: HASH, timestamp: '0x1' };
  let height = number - 1;
  const blockAt = (tag: unknown): object | null => {
    if (tag === '0x0') return { ...parent, number: '0x0', hash: HASH, transactions: [] };
    const wanted = tag === 'latest' ? height : Number(tag);
    if (wanted > height) return null;
    return wanted === number ? block : { ...parent, number: numberToHex(wanted), transactions: [] };
  };
  node = await startFakeNode(({ method, params: [first] }) => {
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
  services = await startHarness({ rpcUrl: node.url, dir: folder });
  await services.watch(receiver.url, [watched]);
  await services.notification.scan();
  height = number;
  await services.notification.scan();
  await services.sent();
  expect((await services.ready()).gaps).toEqual([]);
  return receiver
    .events()
    .map(({ direction, from, to, value, isInternalTransaction = false, txHash, blockHash }) => {
      expect(blockHash).toBe(block.hash);
      expect(txHash).toMatch(/^0x[0-9a-f]{64}$/);
      return [direction, String(from).toLowerCase(), String(to).toLowerCase(), value, isInternalTransaction];
    })
    .sort();
}

const untraced = (block: NodeBlock) =>
  block.transactions.map(({ hash, from, to, value }) => ({ txHash: hash, result: { type: 'CALL', from, to, value } }));

it('posts the coins that a deposit on Base creates, and its payment to itself', async () => {
  const { block, receipts } = BASE_DEPOSIT;
  const { from } = block.transactions[1]!;
  const amount = '19178228000000000';
  const posted = await postedOf({ chainId: 8453, block, receipts, traces: untraced(block) }, from);
  expect(posted).toEqual([
    ['incoming', ZERO, from, amount, true],
    ['incoming', from, from, amount, false],
    ['outgoing', from, from, amount, false],
  ]);
});

it('posts the coins that a deposit on Base creates when the deposit fails, and no payment', async () => {
  const { block, receipts } = BASE_DEPOSIT;
  const { from } = block.transactions[1]!;
  const failed = receipts.map((one) => ({ ...one, status: '0x0' as const }));
  const posted = await postedOf({ chainId: 8453, block, receipts: failed, traces: untraced(block) }, from);
  expect(posted).toEqual([['incoming', ZERO, from, '19178228000000000', true]]);
});

it('posts a deposit on Arbitrum One to its receiver', async () => {
  const { block, receipts } = ARBITRUM_DEPOSIT;
  const [first, deposit] = untraced(block) as [object, { txHash: Hex; result: { from: Hex; value: Hex } }];
  const { from, value } = deposit.result;
  // No public record of this trace was found: it is made as Arbitrum's nodes make it.
  const created = { purpose: 'deposit', from: null, to: from, value };
  const traced = { ...deposit, result: { ...deposit.result, beforeEVMTransfers: [created], afterEVMTransfers: [] } };
  const chain = { chainId: 42161, block, receipts, traces: [first, traced] };
  const to = block.transactions[1]!.to!;
  expect(await postedOf(chain, to)).toEqual([['incoming', from, to, '8374552015335015', false]]);
});

it.each([
  ['succeeds', '0x1'],
  ['fails', '0x0'],
] as const)('posts what a retryable refunds when its submission %s', async (_what, status) => {
  const { transaction, trace } = DEGEN_RETRYABLE;
  const user = '0xfdaf8f210d52a3f8ee416ad06ff4a0868bb649d4';
  const block = { ...BASE_DEPOSIT.block, transactions: [transaction], transactionsRoot: HASH, receiptsRoot: HASH };
  const { transactionsRoot: _root, ...unproven } = block;
  const receipt = { ...BASE_DEPOSIT.receipts[0]!, transactionHash: transaction.hash, status };
  const traces = [{ txHash: transaction.hash, result: trace }];
  const posted = await postedOf({ chainId: 666_666_666, block: unproven, receipts: [receipt], traces }, user);
  expect(posted).toEqual([
    ['incoming', transaction.from, user, '115591004283354244194', true],
    ['incoming', transaction.from, user, '30010500000', true],
  ]);
});

it('posts coins of a state sync on Polygon, which the block’s Bloom filter does not know', async () => {
  const { blockHash, blockNumber, hash, logs } = POLYGON_STATE_SYNC;
  const user = '0xdc7da6884ff2c90c713724e2baa6ab134983927d';
  const { receiptsRoot } = BASE_DEPOSIT.block;
  const block: NodeBlock = {
    number: blockNumber,
    hash: blockHash,
    parentHash: HASH,
    timestamp: '0x1',
    receiptsRoot: receiptsRoot!,
    logsBloom: `0x${'0'.repeat(512)}`,
    transactions: [],
  };
  const own = { transactionHash: hash, status: '0x1', gasUsed: '0x0', contractAddress: null, logs } as const;
  expect(await postedOf({ chainId: 137, block, receipts: [own] }, user)).toEqual([
    ['incoming', '0x0000000000000000000000000000000000001010', user, '1772043931424358792936', true],
  ]);
});

it('posts a payment on zkSync, although its Bloom filter is empty, and asks for no traces', async () => {
  const { transactionHash, from, to, blockHash, logs } = ZKSYNC_PAYMENT;
  const none: Hex = `0x${'0'.repeat(64)}`;
  const transaction = {
    hash: transactionHash,
    from,
    to,
    value: logs[1]!.data,
    nonce: '0x0',
    gas: '0x0',
    blockHash,
  } as const;
  const block: NodeBlock = {
    number: '0xfdb944',
    hash: blockHash,
    parentHash: HASH,
    timestamp: '0x1',
    transactionsRoot: none,
    receiptsRoot: none,
    logsBloom: `0x${'0'.repeat(512)}`,
    transactions: [{ ...transaction, blockNumber: '0xfdb944' } as const],
  };
  const passing = '0x9b896c0e23220469c7ae69cb4bbae391eaa4c8da';
  expect(await postedOf({ chainId: 324, block, receipts: [ZKSYNC_PAYMENT] }, passing)).toEqual([
    ['incoming', to, passing, '319464906174152', false],
    ['outgoing', passing, '0x042b8289c97896529ec2fe49ba1a8b9c956a86cc', '319464906174152', false],
  ]);
  expect(node.asked.filter(({ method }) => /trace/.test(method))).toEqual([]);
});
