import type { APIEmbed } from 'discord.js';
import type { AddressText } from '../../src/domain/address.ts';
import type { Alert, AlertMatch } from '../../src/domain/alert.ts';
import type { Perspective } from '../../src/domain/subscription.ts';
import type { Transfer } from '../../src/domain/transfer.ts';

export const TREASURY: AddressText = '0x1111111111111111111111111111111111111111';
export const PAYROLL: AddressText = '0x2222222222222222222222222222222222222222';
export const ALICE: AddressText = '0xcc95e80da76bd41507b99d9b977dc3062bcf6430';
/** An address that begins and ends like Alice's. */
export const LIKE_ALICE = `${ALICE.slice(0, 6)}${'5'.repeat(32)}${ALICE.slice(-4)}` as AddressText;
export const BOB: AddressText = '0x1ea1f375b5da185eb51edcbed23f3d401f8368ce';
export const USDC: AddressText = '0x5df217d84e67a4aac9d130fc7afed5a94e873f0d';
export const KEYS: AddressText = '0x3333333333333333333333333333333333333333';

const WATCHED: Partial<Record<AddressText, string>> = { [TREASURY]: 'Treasury', [PAYROLL]: 'Payroll' };

let serial = 0;

/** An alert about 5 USDC from Alice to the treasury, in a transaction of its own. It matches the sides that are watched. */
export function alertOf(change: Partial<Transfer> = {}, more: Partial<Alert> = {}): Alert {
  serial++;
  const transfer: Transfer = {
    kind: 'erc20',
    txHash: `0x${serial.toString(16).padStart(64, '0')}`,
    from: ALICE,
    to: TREASURY,
    token: USDC,
    value: '5000000',
    tokenId: null,
    tokenIdExact: true,
    tokenType: 'ERC-20',
    tokenName: 'USD Coin',
    tokenSymbol: 'USDC',
    decimals: 6,
    internal: false,
    blockNumber: 1_234,
    blockHash: `0x${'b'.repeat(64)}`,
    gasFee: '21000000000000',
    ...change,
  };
  const sides: [AddressText | null, Perspective][] =
    transfer.from === transfer.to
      ? [[transfer.from, 'self']]
      : [
          [transfer.from, 'outgoing'],
          [transfer.to, 'incoming'],
        ];
  return {
    id: serial,
    guildId: '1',
    channelId: '2',
    createdAt: 1_750_000_000_000,
    receivedAt: 1_750_000_000_000,
    inboxId: serial,
    network: 0,
    transfer,
    count: 1,
    reorganized: false,
    matches: sides.flatMap(([address, perspective], index) =>
      address && WATCHED[address] ? [matchOf(address, perspective, index)] : [],
    ),
    warnings: [],
    labels: {},
    language: null,
    hold: null,
    style: 'full',
    isCataloged: false,
    isSignificant: false,
    ...more,
  };
}

export function matchOf(
  address: AddressText,
  perspective: Perspective,
  subscription = 1,
  mention: string | null = null,
): AlertMatch {
  const label = WATCHED[address] ?? null;
  return {
    subscription,
    perspective,
    address,
    label,
    mention,
    isKnown: true,
    mayMention: true,
    minimumUsd: null,
    mentionMinimum: null,
    mentionMinimumUsd: null,
    mentionCooldown: 0,
    mentionedAt: null,
  };
}

export const COIN: Partial<Transfer> = {
  kind: 'native',
  token: null,
  tokenType: 'ETH',
  tokenName: null,
  tokenSymbol: null,
  decimals: 18,
};

export const key = (id: string): Partial<Transfer> => ({
  kind: 'erc721',
  token: KEYS,
  value: null,
  tokenId: id,
  tokenType: 'ERC-721',
  tokenName: 'Harbor Keys',
  tokenSymbol: 'KEY',
  decimals: null,
});

export const SETTINGS = { explorerUrl: 'https://explorer.example', nativeSymbol: undefined };

/** The text of an embed as people read it: without links and small type. */
export const read = (embed: APIEmbed) =>
  [embed.title, embed.description, ...(embed.fields ?? []).flatMap(({ name, value }) => [name, value])]
    .join('\n')
    .replace(/\[(`0x[^`]*`)\]\([^)]*\)/g, '$1')
    .replaceAll('-# `', '`');
