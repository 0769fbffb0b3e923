import { expect, it } from 'vitest';
import { createLogReader, feeOf, readFacts } from '../../src/completeness/movements.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { type ChainBlock, ChainError, type ChainReceipt } from '../../src/domain/chain-node.ts';
import type { BlockRange, StoredTransfer } from '../../src/domain/completeness.ts';

const [WALLET, ALICE] = ['1', '2'].map((digit) => `0x${digit.repeat(40)}`) as [AddressText, AddressText];
const HASH = `0x${'a'.repeat(64)}`;
const PRICES = { gasUsed: '0x2', effectiveGasPrice: '0x5' } as ChainReceipt;
const sent = { hash: HASH, from: WALLET, to: ALICE, value: '0x0', blockNumber: '0xa' };
const received = { ...sent, from: ALICE, to: WALLET, value: '0x5' };
/** A delivered payment of 5 inside of the transaction. */
const coins = { kind: 'native', txHash: HASH, token: null, value: '5', internal: true, blockNumber: 10 } as const;
const claim = { id: 1, scope: 0, count: 1, transfer: { ...coins, from: ALICE, to: WALLET } } as StoredTransfer;
const receiving = (change: object) => ({ transactions: [{ ...received, ...change }] });

/** The movements of a block without traces in which a balance changed. */
async function movedIn(change: bigint, block: Partial<ChainBlock>, stored: StoredTransfer[] = []) {
  const chain = {
    logs: async () => [],
    receipt: async () => PRICES,
    block: async () => ({ number: '0xa', hash: '0xb', timestamp: '0x0', transactions: [], ...block }),
    payments: async () => null,
  } as never;
  const balances = { start: new Map([[WALLET, 100n]]), end: new Map([[WALLET, 100n + change]]) };
  const range = { after: 9, upTo: 10 };
  const { movements } = await readFacts(chain, createLogReader(chain), range, [WALLET], balances, stored);
  return movements.map(({ place, from, value }) => `${place.split(':')[0]} ${from === WALLET ? '-' : '+'}${value}`);
}

it.each<[string, bigint, Partial<ChainBlock>, StoredTransfer[], string[]]>([
  ['nothing', 0n, {}, [], []],
  ['what nothing explains', 7n, {}, [], ['difference +7']],
  [
    'a validator’s withdrawal, which is in gwei',
    3_000_000_000n,
    { withdrawals: ['0x3', '0x0'].map((amount, index) => ({ index: `0x${index}`, address: WALLET, amount })) },
    [],
    ['withdrawal +3000000000'],
  ],
  ['what a deposit creates', -1n, receiving({ value: '0x0', mint: '0x9', from: WALLET }), [], ['mint +9']],
  ['a fee', -10n, { transactions: [sent] }, [], []],
  ['a higher fee than the receipt says', -20n, { transactions: [sent] }, [], []],
  ['a payment beside a fee', -21n, { transactions: [sent] }, [], ['difference -11']],
  ['a delivered payment that adds up', 5n, {}, [claim], ['claim +5']],
  ['a delivered payment of a transaction that the block lacks', 7n, {}, [claim], ['difference +7']],
  ['a delivered payment and more', 8n, receiving({ value: '0x0' }), [claim], ['claim +5', 'difference +3']],
  ['no delivered payment without which all adds up', 4n, receiving({ value: '0x4' }), [claim], ['transaction +4']],
])('finds in a block %s', async (_, change, block, stored, moved) => {
  expect((await movedIn(change, block, stored)).sort()).toEqual(moved);
});

it('counts everything that a sender pays', () => {
  const more = { l1Fee: '0x7', blobGasUsed: '0x3', blobGasPrice: '0x10' };
  expect(feeOf({ ...PRICES, ...more })).toBe(10n + 7n + 48n);
});

it('asks for larger ranges again once a node accepts them', async () => {
  let max = 300;
  const sizes: number[] = [];
  const logs = async ({ after, upTo }: BlockRange) => {
    sizes.push(upTo - after);
    if (upTo - after > max) throw new ChainError('refused', 'eth_getLogs');
    return [];
  };
  const read = createLogReader({ logs });
  const range = (after: number) => read({ after, upTo: after + 2_000 }, [WALLET], () => ({}));
  await range(0);
  expect(sizes.filter((size) => size <= max).reduce((sum, size) => sum + size, 0)).toBe(2_000);
  max = 2_000;
  await range(2_000);
  sizes.length = 0;
  await range(4_000);
  expect(sizes).toEqual([2_000]);
});
