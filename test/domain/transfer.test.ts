import { expect, it } from 'vitest';
import { amountOf, isItem, type TransferKind } from '../../src/domain/transfer.ts';

it.each<[TransferKind, string | null, string | null, boolean, bigint]>([
  ['native', '5', null, false, 5n],
  ['native', null, null, false, 0n],
  ['erc20', '5', '7', false, 5n],
  ['erc721', '0', '7', true, 1n],
  ['erc1155', '5', '7', true, 5n],
  ['erc1155', null, '7', true, 1n],
  ['unknown', '5', null, false, 5n],
  ['unknown', '5', '7', true, 1n],
])('counts a transfer of kind %s with value %s and token ID %s: an item %s, amount %s', (...row) => {
  const [kind, value, tokenId, item, amount] = row;
  expect(isItem({ kind, tokenId })).toBe(item);
  expect(amountOf({ kind, value, tokenId })).toBe(amount);
});
