import { encodeAbiParameters, type Hex } from 'viem';
import { describe, expect, it } from 'vitest';
import { outerTransfers, readBlock } from '../../services/chain/block.ts';
import type {
  Node,
  NodeBlock,
  NodeLog,
  NodeReceipt,
  NodeTransaction,
  NodeWithdrawal,
} from '../../services/chain/node.ts';
import { profileOf } from '../../services/chain/profiles.ts';
import { proveWithdrawals } from '../../services/chain/proof.ts';
import { gasOf } from '../../services/notification/event.ts';

/**
 * Transactions and blocks that public chains hold, named by chain and hash. Fields that nothing reads are left out. Where
 * a root or a sum can prove a record, the test does.
 */

const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const ZERO = '0x0000000000000000000000000000000000000000';
const word = (value: bigint | Hex): Hex => encodeAbiParameters([{ type: 'uint256' }], [BigInt(value)]);

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

  it('are events, proven by their root', () => {
    expect(proveWithdrawals(block)).toBe('proven');
    const { transfers } = outerTransfers(block, [], profileOf('1'));
    expect(transfers).toHaveLength(16);
    expect(transfers[7]).toMatchObject({ from: ZERO, value: 65_564_644n * 10n ** 9n, txHash: hash });
    expect(outerTransfers(block, [], profileOf('100')).transfers).toEqual([]);
  });

  it.each([
    ['lacks one', withdrawals.slice(1)],
    ['lacks all', undefined],
  ])('are asked for again from a node that %s', async (_what, given) => {
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
