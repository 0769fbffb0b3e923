import { concat, type Hex, keccak256, numberToHex, slice, stringToHex } from 'viem';
import { describe, expect, it } from 'vitest';
import { readBlock } from '../../services/chain/block.ts';
import { innerTransfers, outerTransfers } from '../../services/chain/block-transfers.ts';
import type {
  Node,
  NodeBlock,
  NodeLog,
  NodeReceipt,
  NodeTransaction,
  NodeWithdrawal,
} from '../../services/chain/node.ts';
import { profileOf } from '../../services/chain/profiles.ts';
import { proveLogs, provenBytes, proveTransactions, proveWithdrawals } from '../../services/chain/proof.ts';
import { coinMoves } from '../../services/chain/traces.ts';
import { gasOf } from '../../services/notification/event.ts';
import { nodeWith } from './fake-node.ts';
import {
  ARBITRUM_DEPOSIT,
  BASE_DEPOSIT,
  BASE_DEPOSIT_TO_OTHER,
  DEGEN_RETRY,
  DEGEN_RETRYABLE,
  GNOSIS_UNWRAP,
  GNOSIS_WRAP,
  HYPEREVM,
  OP_WRAP,
  POLYGON_STATE_SYNC,
  word,
  ZKSYNC_DEPOSIT,
  ZKSYNC_PAYMENT,
} from './records.ts';

/**
 * Transactions and blocks that public chains hold, named by chain and hash. Fields that nothing reads are left out. Where
 * a root, a hash or a sum can prove a record, the test does.
 */

const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const ZERO = '0x0000000000000000000000000000000000000000';

interface Recorded {
  block: NodeBlock;
  receipt: NodeReceipt;
  transaction: NodeTransaction;
}

/** A block with one transaction, its receipt and its transfer logs: log index, contract, from, to, value. */
function recorded(
  {
    hash,
    from,
    to,
    gas,
    block,
    ...receipt
  }: { hash: Hex; from: Hex; to: Hex; gas?: Hex; block: Hex } & Partial<NodeReceipt>,
  transfers: [Hex, Hex, Hex, Hex, bigint][] = [],
): Recorded {
  const place = { blockHash: block, blockNumber: '0x1' } as const;
  const transaction = { hash, from, to, value: '0x0', nonce: '0x0', gas: gas ?? '0x0', ...place } as const;
  const logs = transfers.map(
    ([logIndex, address, sender, receiver, value]): NodeLog => ({
      address,
      topics: [TRANSFER, word(sender), word(receiver)],
      data: word(value),
      transactionHash: hash,
      logIndex,
    }),
  );
  return {
    transaction,
    receipt: { transactionHash: hash, gasUsed: '0x0', contractAddress: null, ...receipt, logs },
    block: { hash: block, number: '0x1', parentHash: block, timestamp: '0x0', transactions: [transaction] },
  };
}

describe('recorded transactions', () => {
  it('OP Mainnet: gasFee of 0x4d8f0ebd…a65d3 includes the fee for the parent chain, and its burn is an event', () => {
    const USER = '0x24476ac81915c512b0e13207aa917923fba4a16a';
    const TOKEN = '0xdd69db25f6d620a7bad3023c5d32761d353d3de9';
    const { block, receipt, transaction } = recorded(
      {
        hash: '0x4d8f0ebd260ea5ac2e11886cdd0af8cba982b21d9f9c1efad808212c6d6a65d3',
        block: '0x7f9f15ca4806d8f8deb2c73e82a2a153a2de668118e14e27a96cd672936449f0',
        from: USER,
        to: ZERO,
        gasUsed: '0x37d6f',
        effectiveGasPrice: '0x3a',
        l1Fee: '0x28a79c8eeb3f',
      },
      [['0x13', TOKEN, USER, ZERO, 40_000_000_000_000_000n]],
    );
    // 4,164 units of data at 15,694,378,178 wei, times the scalar 0.684.
    expect(BigInt(receipt.l1Fee!)).toBe((4_164n * 15_694_378_178n * 684n) / 1_000n);
    expect(gasOf(transaction, receipt).gasFee).toBe((228_719n * 58n + 44_700_351_261_503n).toString());
    expect(outerTransfers(block, receipt.logs, profileOf('10')).transfers).toMatchObject([
      { kind: 'erc20', to: ZERO, value: 40_000_000_000_000_000n, place: 'log:19' },
    ]);
  });

  it('Holesky: gasFee of 0x2ad52593…be33a includes its two blobs', () => {
    const { receipt, transaction } = recorded({
      hash: '0x2ad52593fd11478bc0771a48361250220e93123a772e9f316ad8e87d05abe33a',
      block: '0xea4b9a0d4ddeb927ddca9d1ebbb8b0e623ffc7a8b1b62990ba2d1c4aac1f23b6',
      from: '0xcb98643b8786950f0461f3b0edf99d88f274574d',
      to: ZERO,
      gasUsed: '0x5208',
      effectiveGasPrice: '0x4b3efa16',
      blobGasUsed: '0x40000',
      blobGasPrice: '0x44831ac79',
    });
    const blobs = 2n * 131_072n * 18_391_084_153n;
    expect(gasOf(transaction, receipt).gasFee).toBe((21_000n * 1_262_418_454n + blobs).toString());
  });

  it('zkSync Era: 0xe56c1190…32fc6 has four token transfers, and its fee and refund are no payments', () => {
    const COIN = '0x000000000000000000000000000000000000800a';
    const FEES = '0x0000000000000000000000000000000000008001';
    const USER = '0xef9e8e39782b1b544a6eb6db6aa85207bacb4c20';
    const POOL = '0xe0cdfcec9dcde1ec6b29d38673d3336a3a219c1e';
    const [fee, refund] = [0x7cd3d022a4b80n, 0x4eab57634e200n];
    const { block, receipt, transaction } = recorded(
      {
        hash: '0xe56c11904d690e1bd41a7e901df609c2dc011d1033415379193ebc4197f32fc6',
        block: '0xfd73aaef0e91fcd6c171056b235a2b0f17650dcbe17038d17f76bbf3980c4da2',
        from: USER,
        to: '0x8b791913eb07c32779a16750e3868aa8495f5964',
        gasUsed: '0x318fd7',
        effectiveGasPrice: '0xee6b280',
      },
      [
        ['0x0', COIN, USER, FEES, fee],
        ['0x3', POOL, USER, POOL, 0x2b94cc7d236b39b0bffn],
        ['0x5', POOL, POOL, ZERO, 0x2b94cc7d236b39b0bffn],
        ['0x6', '0x3355df6d4c9c3035724fd0e3914de96a5a83aaf4', POOL, USER, 0x9f62322n],
        ['0x7', '0x3f81edcbd9bc84271fb8fdf270257a18f4d47e9b', POOL, USER, 0xbeaac4bd1b7f557aaca0ff08cfb011n],
        ['0xa', COIN, FEES, USER, refund],
      ],
    );
    expect(gasOf(transaction, receipt).gasFee).toBe((fee - refund).toString());
    const { transfers, unreadable } = outerTransfers(block, receipt.logs, profileOf('324'));
    expect(unreadable).toEqual([]);
    expect(transfers.map(({ kind, place }) => `${kind} ${place}`)).toEqual(
      ['log:3', 'log:5', 'log:6', 'log:7'].map((place) => `erc20 ${place}`),
    );
  });
});

/** A block of whose transactions only these are known. */
function blockOf(transactions: readonly NodeTransaction[], more: Partial<NodeBlock> = {}): NodeBlock {
  const hash = transactions[0]?.blockHash ?? `0x${'b'.repeat(64)}`;
  return { hash, number: '0x1', parentHash: hash, timestamp: '0x0', transactions: [...transactions], ...more };
}

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

describe('deposits of coins from a parent chain', () => {
  it.each([
    ['Base: block 77976', BASE_DEPOSIT],
    ['Arbitrum One: block 116686799', ARBITRUM_DEPOSIT],
  ])('%s is proven, and not without its first or its last transaction', (_what, { block }) => {
    expect(proveTransactions(block)).toBe('proven');
    for (const transactions of [block.transactions.slice(0, 1), block.transactions.slice(1)]) {
      expect(proveTransactions({ ...block, transactions })).toBe('contradicted');
    }
  });

  it('Base: 0x5e5f8578…d2411 creates coins for its sender, and pays them to another address', () => {
    expect(provenBytes(BASE_DEPOSIT_TO_OTHER)).toBeDefined();
    const { from, to } = BASE_DEPOSIT_TO_OTHER;
    expect(shown(outerTransfers(blockOf([BASE_DEPOSIT_TO_OTHER]), [], profileOf('8453')))).toEqual([
      ['native', 'mint', ZERO, from, 328_155_764_602_950_000n],
      ['native', 'transaction', from, to, 328_155_764_602_950_000n],
    ]);
    expect(provenBytes({ ...BASE_DEPOSIT_TO_OTHER, mint: '0x1' })).toBeUndefined();
  });

  it('zkSync: a deposit creates coins for its sender, who pays the receiver, and gets what remains of the fee', () => {
    const { hash, logs } = ZKSYNC_DEPOSIT;
    const sender = '0xfb7e0856e44eff812a44a9f47733d7d55c39aa28';
    const receiver = '0xc62a6e5d98b3a0de9ec4a930fbb354443e92e9e0';
    const deposit: NodeTransaction = { ...BASE_DEPOSIT_TO_OTHER, hash, mint: '0x0' };
    expect(shown(outerTransfers(blockOf([deposit]), logs, profileOf('324')))).toEqual([
      ['native', 'log:0', ZERO, sender, 5_000_000_000_000_000n],
      ['native', 'log:1', sender, receiver, 5_000_000_000_000_000n],
      ['native', 'log:3', ZERO, sender, 240_800_500_000_000n],
    ]);
  });
});

describe('retryables of Arbitrum', () => {
  const { transaction, trace } = DEGEN_RETRYABLE;
  const [sender, user] = [transaction.from, '0xfdaf8f210d52a3f8ee416ad06ff4a0868bb649d4'];
  const escrow = slice(keccak256(concat([stringToHex('retryable escrow'), transaction.hash])), 12);
  const node = nodeWith({ debug_traceBlockByNumber: [{ txHash: transaction.hash, result: trace }] });

  // Degen Chain is not among the profiles: chains of Arbitrum's software need none.
  it.each(['42161', '666666666'])(
    'Degen Chain: 0x340dcf42…f78c0 deposits coins, keeps some and refunds the others, read as chain %s',
    async (chainId) => {
      expect(provenBytes(transaction)).toBeDefined();
      const moves = await coinMoves(node, blockOf([transaction]), profileOf(chainId).traces);
      expect(shown(innerTransfers(moves))).toEqual([
        ['native', 'trace:0', ZERO, sender, 220_673_735_480_050_420_734n],
        ['native', 'trace:2', sender, user, 115_591_004_283_354_244_194n],
        ['native', 'trace:3', sender, escrow, 105_082_731_166_685_676_540n],
        ['native', 'trace:4', sender, user, 30_010_500_000n],
      ]);
      // The sender keeps nothing: the deposit is the sum of what goes on.
      expect(moves.slice(1).reduce((sum, { value }) => sum + value, 0n)).toBe(moves[0]!.value);
      expect(moves.filter(({ survives }) => !survives)).toEqual([]);
    },
  );

  it('Degen Chain: 0x39da7c1a…0c307 pays what a retryable kept', () => {
    expect(provenBytes(DEGEN_RETRY)).toBeDefined();
    expect(shown(outerTransfers(blockOf([DEGEN_RETRY]), [], profileOf('42161')))).toEqual([
      ['native', 'transaction', DEGEN_RETRY.from, DEGEN_RETRY.to, 470_999_993_672_387_790_000n],
    ]);
  });
});

describe('state syncs of Polygon', () => {
  const { blockHash, blockNumber, hash, logsBloom, logs } = POLYGON_STATE_SYNC;
  const listed: NodeTransaction = {
    hash,
    from: ZERO,
    to: ZERO,
    value: '0x0',
    nonce: '0x0',
    gas: '0x0',
    gasPrice: '0x0',
    blockHash,
    blockNumber,
  };

  it.each([
    ['lists', [listed]],
    ['does not list', []],
  ])(
    'reports the tokens and the coins in the logs of 0xd9273904…c33fc, where the block %s it',
    (_does, transactions) => {
      const key = concat([stringToHex('matic-bor-receipt-'), numberToHex(Number(blockNumber), { size: 8 }), blockHash]);
      expect(keccak256(key)).toBe(hash);
      expect(proveLogs(blockOf([], { logsBloom }), logs)).toBe('proven');
      const block = blockOf(transactions, { hash: blockHash, number: blockNumber });
      expect(shown(outerTransfers(block, logs, profileOf('137')))).toEqual([
        ['erc20', 'log:139', ZERO, '0xbc850334dd4a52a8d4306e78da404271290561de', 20_750_000_000_000_000n],
        [
          'native',
          'log:140',
          '0x0000000000000000000000000000000000001010',
          '0xdc7da6884ff2c90c713724e2baa6ab134983927d',
          1_772_043_931_424_358_792_936n,
        ],
      ]);
      // In other transactions traces show what coins move, and elsewhere anyone may write such logs.
      const paid = { ...BASE_DEPOSIT_TO_OTHER, hash, value: '0x0', mint: '0x0', gas: '0x5208' } as const;
      const kinds = (transaction: NodeTransaction, chainId: string) =>
        outerTransfers({ ...block, transactions: [transaction] }, logs, profileOf(chainId)).transfers.map(
          ({ kind }) => kind,
        );
      expect([kinds(listed, '137'), kinds(paid, '137'), kinds(listed, '1')]).toEqual([
        ['erc20', 'native'],
        ['erc20'],
        ['erc20'],
      ]);
    },
  );
});

describe('payments in coins on zkSync', () => {
  it('Era: 0x835ac2ec…49a29 pays a contract, which passes coins on, and each payment is one event', () => {
    const { transactionHash, from, to, blockHash, logs, logsBloom } = ZKSYNC_PAYMENT;
    expect(proveLogs(blockOf([], { logsBloom }), logs)).toBe('proven');
    const [fee, paid, refund] = [logs[0]!, logs[1]!, logs.at(-1)!].map(({ data }) => BigInt(data)) as [
      bigint,
      bigint,
      bigint,
    ];
    // The first payment is what the transaction itself carries, which the record lacks.
    const transaction: NodeTransaction = {
      hash: transactionHash,
      from,
      to,
      value: `0x${paid.toString(16)}`,
      nonce: '0x0',
      gas: '0x0',
      blockHash,
      blockNumber: '0xfdb944',
    };
    expect(gasOf(transaction, ZKSYNC_PAYMENT).gasFee).toBe((fee - refund).toString());
    const [second, third] = [
      '0x9b896c0e23220469c7ae69cb4bbae391eaa4c8da',
      '0x042b8289c97896529ec2fe49ba1a8b9c956a86cc',
    ];
    expect(shown(outerTransfers(blockOf([transaction]), logs, profileOf('324')))).toEqual([
      ['native', 'log:1', from, to, 344_464_906_174_152n],
      ['erc20', 'log:2', from, ZERO, 10n ** 18n],
      ['native', 'log:3', to, second, 319_464_906_174_152n],
      ['native', 'log:4', second, third, 319_464_906_174_152n],
    ]);
    // Should the chain stop writing such logs, its transactions still show what they pay.
    const [erc20] = logs.filter(({ logIndex }) => logIndex === '0x2');
    expect(shown(outerTransfers(blockOf([transaction]), [erc20!], profileOf('324')))).toEqual([
      ['native', 'transaction', from, to, paid],
      ['erc20', 'log:2', from, ZERO, 10n ** 18n],
    ]);
  });
});

describe('wrapped coins', () => {
  it.each([
    ['0x42074e22…990c4 on OP Mainnet', OP_WRAP, '10', 34_500_000_000_000_000n],
    ['0x8cf8362f…dd0e8 on Gnosis', GNOSIS_WRAP, '100', 103_000_000_000_000_000_000n],
  ])(
    'reports the wrapping of coins in %s as a payment and a mint',
    (_what, { transaction, receipt }, chainId, amount) => {
      expect(provenBytes(transaction)).toBeDefined();
      expect(proveLogs(blockOf([], { logsBloom: receipt.logsBloom }), receipt.logs)).toBe('proven');
      const { from, to } = transaction;
      expect(shown(outerTransfers(blockOf([transaction]), receipt.logs, profileOf(chainId)))).toEqual([
        ['native', 'transaction', from, to, amount],
        ['erc20', `log:${Number(receipt.logs[0]!.logIndex)}`, ZERO, from, amount],
      ]);
    },
  );

  it('Gnosis: 0xa6af9ea7…f2369 unwraps coins, which is a burn', () => {
    const { transaction, receipt } = GNOSIS_UNWRAP;
    expect(provenBytes(transaction)).toBeDefined();
    const amount = 555_374_747_825_771_664_891n;
    expect(BigInt(slice(transaction.input!, 4))).toBe(amount);
    expect(shown(outerTransfers(blockOf([transaction]), receipt.logs, profileOf('100')))).toEqual([
      ['erc20', 'log:51', transaction.from, ZERO, amount],
    ]);
  });
});

describe('transactions that a root leaves out', () => {
  it('HyperEVM: a block is proven with and without the chain’s own transactions, but not without another', () => {
    const { block, own } = HYPEREVM;
    expect(proveTransactions(block)).toBe('proven');
    expect(provenBytes(own)).toBeDefined();
    expect(proveTransactions({ ...block, transactions: [own, ...block.transactions] })).toBe('proven');
    expect(proveTransactions({ ...block, transactions: [own, block.transactions[0]!] })).toBe('contradicted');
  });
});

describe('withdrawals of Ethereum’s block 22263622', () => {
  /** To one address, in gwei, with consecutive numbers. */
  const AMOUNTS = [
    0x1277696, 0x127aaef, 0x127643e, 0x1277957, 0x127bea3, 0x1277316, 0x127543f, 0x3e86fe4, 0x121541f, 0x121a46b,
    0x1220af6, 0x127a318, 0x1276f13, 0x1278821, 0x126a720, 0x12419ab,
  ];
  const hexOf = (value: number): Hex => `0x${value.toString(16)}`;
  const withdrawals = AMOUNTS.map(
    (amount, at): NodeWithdrawal => ({
      index: hexOf(0x4fc874b + at),
      validatorIndex: hexOf(0xbee3f + at),
      address: '0xb9d7934878b5fb9610b3fe8a5e441e8fad7e293f',
      amount: hexOf(amount),
    }),
  );
  const hash = '0x019d374731477005b8d3e3236aca44d11ef53fc9eb0ab0c9e11f942636b04b1b';
  const block: NodeBlock = {
    hash,
    number: hexOf(22_263_622),
    parentHash: '0xbdcf8d6c1b3f3da147a760db3a13747580369054ab84d65fef01da26b992a678',
    timestamp: '0x0',
    transactions: [],
    withdrawals,
    withdrawalsRoot: '0x3eec61c2568c5ac2103a25d8256ada0babe8b9c3848410b1f73765c98143a234',
  };

  it('reports the withdrawals of a block as events and proves them by their root', () => {
    expect(proveWithdrawals(block)).toBe('proven');
    const { transfers } = outerTransfers(block, [], profileOf('1'));
    expect(transfers).toHaveLength(16);
    expect(transfers[7]).toMatchObject({ from: ZERO, value: 65_564_644n * 10n ** 9n, txHash: hash });
    expect(outerTransfers(block, [], profileOf('100')).transfers).toEqual([]);
  });

  it.each([
    ['lacks one', withdrawals.slice(1)],
    ['lacks all', undefined],
  ])('asks again for the withdrawals of a block when a node %s', async (_what, given) => {
    const answers = [{ ...block, withdrawals: given }, block];
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
    answers.push({ ...block, withdrawals: given });
    expect(await readBlock(node, 22_263_622, profileOf('10'))).toMatchObject({ hash });
  });
});
