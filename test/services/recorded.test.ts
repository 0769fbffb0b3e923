import { concat, keccak256, numberToHex, slice, stringToHex, zeroAddress as ZERO } from 'viem';
import { describe, expect, it } from 'vitest';
import { readBlock } from '../../services/chain/block.ts';
import { outerTransfers } from '../../services/chain/block-transfers.ts';
import type { Node, NodeTransaction } from '../../services/chain/node.ts';
import { profileOf } from '../../services/chain/profiles.ts';
import { proveLogs, provenBytes, proveTransactions, proveWithdrawals } from '../../services/chain/proof.ts';
import { gasOf } from '../../services/notification/event.ts';
import {
  ARBITRUM_DEPOSIT,
  BASE_DEPOSIT,
  BASE_DEPOSIT_TO_OTHER,
  blockOf,
  DEGEN_RETRY,
  ETHEREUM_WITHDRAWALS,
  GNOSIS_UNWRAP,
  GNOSIS_WRAP,
  HOLESKY_BLOBS,
  HYPEREVM,
  OP_BURN,
  OP_WRAP,
  POLYGON_STATE_SYNC,
  type Receipt,
  transactionOf,
  ZKSYNC_DEPOSIT,
  ZKSYNC_PAYMENT,
  ZKSYNC_SWAP,
} from './records.ts';

/**
 * Transactions and blocks that public chains hold, named by chain and hash. Where a root, a hash or a sum can prove a
 * record, the test does.
 */

/** Each transfer in short: kind, place, sender, receiver, amount. */
function shown({ transfers, unreadable }: ReturnType<typeof outerTransfers>): unknown[] {
  expect(unreadable).toEqual([]);
  return transfers.map((one) => [
    one.kind,
    one.place,
    one.from.toLowerCase(),
    one.to.toLowerCase(),
    'value' in one ? one.value : one.tokenId,
  ]);
}

const SWAP = {
  user: ZKSYNC_SWAP.from,
  pool: '0xe0cdfcec9dcde1ec6b29d38673d3336a3a219c1e',
  paid: 0x2b94cc7d236b39b0bffn,
};
const ZKSYNC = {
  sender: '0xfb7e0856e44eff812a44a9f47733d7d55c39aa28',
  to: '0xc62a6e5d98b3a0de9ec4a930fbb354443e92e9e0',
};
const [SECOND, THIRD] = ['0x9b896c0e23220469c7ae69cb4bbae391eaa4c8da', '0x042b8289c97896529ec2fe49ba1a8b9c956a86cc'];

const RECORDED: {
  what: string;
  chainId: string;
  transaction?: NodeTransaction;
  receipt?: Receipt;
  transfers: unknown[][];
  gasFee?: bigint;
}[] = [
  {
    what: 'OP Mainnet: gasFee of 0x4d8f0ebd…a65d3 includes the fee for the parent chain, and its burn is an event',
    chainId: '10',
    receipt: OP_BURN,
    transfers: [['erc20', 'log:19', OP_BURN.from, ZERO, 40_000_000_000_000_000n]],
    // 4,164 units of data at 15,694,378,178 wei, times the scalar 0.684.
    gasFee: 228_719n * 58n + (4_164n * 15_694_378_178n * 684n) / 1_000n,
  },
  {
    what: 'Holesky: gasFee of 0x2ad52593…be33a includes its two blobs',
    chainId: '17000',
    receipt: HOLESKY_BLOBS,
    transfers: [],
    gasFee: 21_000n * 1_262_418_454n + 2n * 131_072n * 18_391_084_153n,
  },
  {
    what: 'zkSync Era: 0xe56c1190…32fc6 has four token transfers, and its fee and refund are no payments',
    chainId: '324',
    receipt: ZKSYNC_SWAP,
    transfers: [
      ['erc20', 'log:3', SWAP.user, SWAP.pool, SWAP.paid],
      ['erc20', 'log:5', SWAP.pool, ZERO, SWAP.paid],
      ['erc20', 'log:6', SWAP.pool, SWAP.user, 0x9f62322n],
      ['erc20', 'log:7', SWAP.pool, SWAP.user, 0xbeaac4bd1b7f557aaca0ff08cfb011n],
    ],
    gasFee: 0x7cd3d022a4b80n - 0x4eab57634e200n,
  },
  {
    what: 'zkSync Era: 0x835ac2ec…49a29 pays a contract, which passes coins on, and each payment is one event',
    chainId: '324',
    transaction: transactionOf(ZKSYNC_PAYMENT, 344_464_906_174_152n),
    receipt: ZKSYNC_PAYMENT,
    transfers: [
      ['native', 'log:1', ZKSYNC_PAYMENT.from, ZKSYNC_PAYMENT.to, 344_464_906_174_152n],
      ['erc20', 'log:2', ZKSYNC_PAYMENT.from, ZERO, 10n ** 18n],
      ['native', 'log:3', ZKSYNC_PAYMENT.to, SECOND, 319_464_906_174_152n],
      ['native', 'log:4', SECOND, THIRD, 319_464_906_174_152n],
    ],
    gasFee: 0x17b3627a0a300n - 0x115d39774af00n,
  },
  {
    what: 'zkSync: a deposit creates coins for its sender, who pays the receiver, and gets what remains of the fee',
    chainId: '324',
    receipt: ZKSYNC_DEPOSIT,
    transfers: [
      ['native', 'log:0', ZERO, ZKSYNC.sender, 5_000_000_000_000_000n],
      ['native', 'log:1', ZKSYNC.sender, ZKSYNC.to, 5_000_000_000_000_000n],
      ['native', 'log:3', ZERO, ZKSYNC.sender, 240_800_500_000_000n],
    ],
  },
  {
    what: 'Base: 0x5e5f8578…d2411 creates coins for its sender, and pays them to another address',
    chainId: '8453',
    transaction: BASE_DEPOSIT_TO_OTHER,
    transfers: [
      ['native', 'mint', ZERO, BASE_DEPOSIT_TO_OTHER.from, 328_155_764_602_950_000n],
      ['native', 'transaction', BASE_DEPOSIT_TO_OTHER.from, BASE_DEPOSIT_TO_OTHER.to, 328_155_764_602_950_000n],
    ],
  },
  {
    what: 'Degen Chain: 0x39da7c1a…0c307 pays what a retryable kept',
    chainId: '42161',
    transaction: DEGEN_RETRY,
    transfers: [['native', 'transaction', DEGEN_RETRY.from, DEGEN_RETRY.to, 470_999_993_672_387_790_000n]],
  },
  {
    what: 'OP Mainnet: 0x42074e22…990c4 wraps coins, which is a payment and a mint',
    chainId: '10',
    ...OP_WRAP,
    transfers: [
      ['native', 'transaction', OP_WRAP.transaction.from, OP_WRAP.transaction.to, 34_500_000_000_000_000n],
      ['erc20', 'log:19', ZERO, OP_WRAP.transaction.from, 34_500_000_000_000_000n],
    ],
  },
  {
    what: 'Gnosis: 0x8cf8362f…dd0e8 wraps coins, which is a payment and a mint',
    chainId: '100',
    ...GNOSIS_WRAP,
    transfers: [
      ['native', 'transaction', GNOSIS_WRAP.transaction.from, GNOSIS_WRAP.transaction.to, 103_000_000_000_000_000_000n],
      ['erc20', 'log:4', ZERO, GNOSIS_WRAP.transaction.from, 103_000_000_000_000_000_000n],
    ],
  },
  {
    what: 'Gnosis: 0xa6af9ea7…f2369 unwraps coins, which is a burn',
    chainId: '100',
    ...GNOSIS_UNWRAP,
    // The call names the amount.
    transfers: [
      ['erc20', 'log:51', GNOSIS_UNWRAP.transaction.from, ZERO, BigInt(slice(GNOSIS_UNWRAP.transaction.input!, 4))],
    ],
  },
  {
    what: 'reports no wrapping by a contract that the chain’s profile does not name',
    chainId: '10',
    ...GNOSIS_UNWRAP,
    transfers: [],
  },
];

for (const { what, chainId, transaction, receipt, transfers, gasFee } of RECORDED) {
  it(what, () => {
    if (transaction?.input !== undefined) expect(provenBytes(transaction)).toBeDefined();
    const { logs = [], logsBloom } = receipt ?? {};
    if (logsBloom !== undefined) expect(proveLogs(blockOf([], { logsBloom }), logs)).toBe('proven');
    const sent = transaction ?? transactionOf(receipt!);
    expect(shown(outerTransfers(blockOf([sent]), logs, profileOf(chainId)))).toEqual(transfers);
    if (gasFee !== undefined) expect(gasOf(sent, receipt!).gasFee).toBe(gasFee.toString());
  });
}

it('shows what a transaction on zkSync pays, should the chain stop writing logs of its coins', () => {
  const { from, to, logs } = ZKSYNC_PAYMENT;
  const tokens = logs.filter(({ logIndex }) => logIndex === '0x2');
  expect(shown(outerTransfers(blockOf([transactionOf(ZKSYNC_PAYMENT, 5n)]), tokens, profileOf('324')))).toEqual([
    ['native', 'transaction', from, to, 5n],
    ['erc20', 'log:2', from, ZERO, 10n ** 18n],
  ]);
});

it.each([
  ['Base: block 77976', BASE_DEPOSIT],
  ['Arbitrum One: block 116686799', ARBITRUM_DEPOSIT],
])('%s is proven, and not without its first or its last transaction', (_what, { block }) => {
  expect(proveTransactions(block)).toBe('proven');
  for (const transactions of [block.transactions.slice(0, 1), block.transactions.slice(1)]) {
    expect(proveTransactions({ ...block, transactions })).toBe('contradicted');
  }
});

it('Base: proves the coins that a deposit creates by its hash', () => {
  expect(provenBytes({ ...BASE_DEPOSIT_TO_OTHER, mint: '0x1' })).toBeUndefined();
});

describe('state syncs of Polygon', () => {
  const { transactionHash: hash, blockHash, blockNumber, logsBloom, logs } = POLYGON_STATE_SYNC;
  const listed = transactionOf(POLYGON_STATE_SYNC);
  const outer = (transactions: NodeTransaction[], chainId: string) =>
    outerTransfers(blockOf(transactions, { hash: blockHash, number: blockNumber }), logs, profileOf(chainId));

  it('believes the logs of coins of 0xd9273904…c33fc, because anyone may write such logs elsewhere', () => {
    const key = concat([stringToHex('matic-bor-receipt-'), numberToHex(Number(blockNumber), { size: 8 }), blockHash]);
    expect(keccak256(key)).toBe(hash);
    expect(proveLogs(blockOf([], { logsBloom }), logs)).toBe('proven');
    expect(outer([listed], '137').transfers.map(({ kind }) => kind)).toEqual(['erc20', 'native']);
    const traced = { ...listed, gas: '0x5208' } as const;
    for (const { transfers } of [outer([traced], '137'), outer([listed], '1')]) {
      expect(transfers.map(({ kind }) => kind)).toEqual(['erc20']);
    }
  });

  it('quarantines logs of a transaction that the block of another chain does not list', () => {
    const { transfers, unreadable } = outer([], '1');
    expect(transfers).toEqual([]);
    expect(unreadable).toMatchObject(logs.map(() => ({ part: 'log', txHash: hash })));
  });
});

it('HyperEVM: a block is proven with and without the chain’s own transactions, but not without another', () => {
  const { block, own } = HYPEREVM;
  expect(proveTransactions(block)).toBe('proven');
  expect(provenBytes(own)).toBeDefined();
  expect(proveTransactions({ ...block, transactions: [own, ...block.transactions] })).toBe('proven');
  expect(proveTransactions({ ...block, transactions: [own, block.transactions[0]!] })).toBe('contradicted');
});

describe('withdrawals of Ethereum’s block 22263622', () => {
  const block = ETHEREUM_WITHDRAWALS;

  it('reports the withdrawals of a block as events and proves them by their root', () => {
    expect(proveWithdrawals(block)).toBe('proven');
    const { transfers } = outerTransfers(block, [], profileOf('1'));
    expect(transfers).toHaveLength(16);
    expect(transfers[7]).toMatchObject({ from: ZERO, value: 65_564_644n * 10n ** 9n, txHash: block.hash });
    expect(outerTransfers(block, [], profileOf('100')).transfers).toEqual([]);
  });

  it.each([
    ['lacks one', { ...block, withdrawals: block.withdrawals!.slice(1) }],
    ['lacks all', { ...block, withdrawals: undefined }],
  ])('asks again for the withdrawals of a block when a node %s', async (_what, cut) => {
    const answers = [cut, block, cut];
    const node: Node = {
      async call(_method, _params, accept) {
        const answer = answers.shift() as never;
        accept?.(answer);
        return answer;
      },
    };
    await expect(readBlock(node, 22_263_622, profileOf('1'))).rejects.toThrow(/only some withdrawals/);
    expect(await readBlock(node, 22_263_622, profileOf('1'))).toBe(block);
    // Elsewhere the root may be of something else.
    expect(await readBlock(node, 22_263_622, profileOf('10'))).toBe(cut);
  });
});
