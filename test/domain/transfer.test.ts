import { describe, expect, it } from 'vitest';
import {
  amountOf,
  isItem,
  keysOf,
  type Transfer,
  type TransferEvent,
  type TransferKind,
} from '../../src/domain/transfer.ts';
import { transfer as transferOf } from '../store/contract/given.ts';

it.each<[TransferKind, string | null, string | null, boolean, bigint]>([
  ['native', '5', null, false, 5n],
  ['native', null, null, false, 0n],
  ['erc20', '5', '7', false, 5n],
  ['erc721', '0', '7', true, 1n],
  ['erc1155', '5', '7', true, 5n],
  ['erc1155', null, '7', true, 1n],
  ['unknown', '5', null, false, 5n],
  ['unknown', '5', '7', true, 1n],
])('decides if the kind %s with value %s and token ID %s is an item (%s), and how much moves (%s)', (...row) => {
  const [kind, value, tokenId, item, amount] = row;
  expect(isItem({ kind, tokenId })).toBe(item);
  expect(amountOf({ kind, value, tokenId })).toBe(amount);
});

describe('the keys of transfers and deliveries', () => {
  const event: TransferEvent = {
    transfer: transferOf(1),
    direction: 'incoming',
    addressType: 'wallet',
    projectId: 'p',
  };
  const other = (change: Partial<Transfer>) => ({ ...event, transfer: { ...event.transfer, ...change } });
  const keyOf = (change: Partial<Transfer>, scope = 0) => keysOf(scope, other(change)).transfer;

  it('makes one key for a transfer, whatever does not identify it', () => {
    const words = { tokenName: 'Two', tokenSymbol: null, decimals: 6 };
    expect(keyOf({ ...words, gasFee: null, blockHash: '0xb2', blockNumber: 2 })).toBe(keyOf({}));
    // Senders mix them up.
    expect(keyOf({ kind: 'erc721', tokenId: '7' })).toBe(keyOf({ kind: 'erc1155', tokenId: '7' }));
  });

  it('makes different keys for different transfers and scopes', () => {
    const changes: Partial<Transfer>[] = [{}, { value: '6' }, { txHash: '0x2' }, { from: null }, { to: null }];
    changes.push({ token: null }, { kind: 'native' }, { tokenId: '0', value: '5' }, { tokenId: '0', value: '6' });
    const keys = [...changes.map((change) => keyOf(change)), keyOf({}, 1)];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('makes different delivery keys for different deliveries of one transfer', () => {
    const variants: TransferEvent[] = [
      event,
      { ...event, direction: 'outgoing' },
      { ...event, addressType: 'token' },
      { ...event, projectId: 'q' },
      other({ blockHash: '0xb2' }),
      other({ internal: true }),
    ];
    const keys = variants.map((variant) => keysOf(0, variant).delivery);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
