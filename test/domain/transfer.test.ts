import { describe, expect, it } from 'vitest';
import {
  amountOf,
  deliveryKey,
  isItem,
  type TransferEvent,
  type TransferKind,
  transferKey,
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
])(
  'decides if a transfer of kind %s with value %s and token ID %s is an item (%s), and how much moves (%s)',
  (...row) => {
    const [kind, value, tokenId, item, amount] = row;
    expect(isItem({ kind, tokenId })).toBe(item);
    expect(amountOf({ kind, value, tokenId })).toBe(amount);
  },
);

describe('the keys of transfers and deliveries', () => {
  const event: TransferEvent = {
    transfer: transferOf(1),
    direction: 'incoming',
    addressType: 'wallet',
    projectId: 'p',
  };
  const other = (change: Partial<TransferEvent['transfer']>) => ({
    ...event,
    transfer: { ...event.transfer, ...change },
  });

  it('leaves out of a transfer’s key what does not identify it', () => {
    const same = other({
      tokenName: 'Two',
      tokenSymbol: null,
      decimals: 6,
      gasFee: null,
      blockHash: '0xb2',
      blockNumber: 2,
    });
    expect(transferKey(0, same.transfer)).toBe(transferKey(0, event.transfer));
  });

  it.each([
    { value: '6' },
    { txHash: '0x2' },
    { from: null },
    { to: null },
    { token: null },
    { kind: 'native' as const },
  ])('makes another transfer key for %j', (change) => {
    expect(transferKey(0, other(change).transfer)).not.toBe(transferKey(0, event.transfer));
  });

  it('makes different transfer keys for different amounts, also with a token ID', () => {
    const of = (value: string) => transferKey(0, other({ tokenId: '0', value }).transfer);
    expect(of('5')).not.toBe(of('6'));
  });

  it('makes one transfer key for ERC-721 and ERC-1155, because senders mix them up', () => {
    const of = (kind: TransferKind) => transferKey(0, other({ kind, tokenId: '7' }).transfer);
    expect(of('erc721')).toBe(of('erc1155'));
  });

  it('makes different transfer keys for different scopes', () => {
    expect(transferKey(1, event.transfer)).not.toBe(transferKey(0, event.transfer));
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
    expect(new Set(variants.map((variant) => deliveryKey(transferKey(0, variant.transfer), variant))).size).toBe(
      variants.length,
    );
  });
});
