import { hash } from 'node:crypto';
import type { AddressText, Asset } from './address.ts';

/** What moved. `unknown`: a token type that this version does not know; it is still posted. */
export type TransferKind = 'native' | 'erc20' | 'erc721' | 'erc1155' | 'unknown';

/** Amounts are decimal texts, never numbers. */
export interface Transfer {
  kind: TransferKind;
  /** Lower-case hex. */
  txHash: string;
  from: AddressText | null;
  to: AddressText | null;
  /** The token's contract; null for the native coin. */
  token: AddressText | null;
  /** In the smallest unit; null: the event had no amount. */
  value: string | null;
  /** Decimal text; not `tokenIdExact`: as the sender rounded it (`5.7e+76`). */
  tokenId: string | null;
  tokenIdExact: boolean;
  /** `tokenType` as sent: `ERC-20`, or the native coin's brand. */
  tokenType: string | null;
  tokenName: string | null;
  tokenSymbol: string | null;
  /** null when the sender could not read it; 18 for the native coin. */
  decimals: number | null;
  internal: boolean;
  blockNumber: number | null;
  blockHash: string | null;
  /** Of the transaction, in the native coin's smallest unit. */
  gasFee: string | null;
  /** Dollars for one unit when it was routed, as decimal text; null: not known; absent: prices are not set up. */
  price?: string | null;
  /** How many of it the settled chain has, where that was found to differ from the deliveries; 0: none. */
  settled?: number;
  /** What it left to its parties, in the smallest unit, at the end of a block. */
  balances?: { block: number; of: Partial<Record<AddressText, string>> };
}

export interface TransferEvent {
  transfer: Transfer;
  direction: 'incoming' | 'outgoing' | null;
  addressType: 'wallet' | 'token' | null;
  projectId: string | null;
}

/** For filters and keys. Senders mix ERC-721 and ERC-1155 up. */
export function mergedKind(kind: TransferKind): 'native' | 'erc20' | 'nft' | 'unknown' {
  switch (kind) {
    case 'native':
    case 'erc20':
    case 'unknown':
      return kind;
    case 'erc721':
    case 'erc1155':
      return 'nft';
  }
}

/** An amount with a token ID is still an amount. */
export function isItem({ kind, tokenId }: Pick<Transfer, 'kind' | 'tokenId'>): boolean {
  switch (kind) {
    case 'native':
    case 'erc20':
      return false;
    case 'erc721':
    case 'erc1155':
      return true;
    case 'unknown':
      return tokenId !== null;
  }
}

export function isZero(transfer: Transfer): boolean {
  return transfer.value === '0' && !isItem(transfer);
}

/** Coins that appeared or vanished, and that no call explains: a block stands for their transaction. */
export const isDifference = ({ txHash }: Pick<Transfer, 'txHash'>): boolean => /^block\d+$/.test(txHash);

/** Both parties for a watched token. */
export function otherSides(
  { address }: { address: AddressText },
  { from, to }: Pick<Transfer, 'from' | 'to'>,
): (AddressText | null)[] {
  if (address === from) return [to];
  return address === to ? [from] : [from, to];
}

/** In the token's smallest unit, NFTs in pieces; 0 for an unknown amount. */
export function amountOf({ kind, value, tokenId }: Pick<Transfer, 'kind' | 'value' | 'tokenId'>): bigint {
  switch (kind) {
    case 'native':
    case 'erc20':
      return BigInt(value ?? 0);
    case 'erc721':
      return 1n;
    case 'erc1155':
      return BigInt(value ?? 1);
    case 'unknown':
      return tokenId === null ? BigInt(value ?? 0) : 1n;
  }
}

/**
 * `1234500000`, 6 → `1234.5`; the raw units if the decimals are unknown. Not by a library: the database's threads
 * import this, and a library would take 9 ms of the start of each.
 */
export function inUnits(value: string, decimals: number | null): string {
  if (decimals === null) return value;
  const [, sign = '', digits = ''] = /^(-?)(.*)$/.exec(BigInt(value).toString())!;
  const padded = digits.padStart(decimals + 1, '0');
  const point = padded.length - decimals;
  const fraction = padded.slice(point).replace(/0+$/, '');
  return `${sign}${padded.slice(0, point)}${fraction && `.${fraction}`}`;
}

export const FEE_DIGITS = 3;
/** *Details* has all of a balance’s digits. */
export const BALANCE_DIGITS = 8;

/** The whole part is never cut. */
export function rounded(amount: string, digits: number): string {
  const [whole = '0', fraction = ''] = amount.split('.');
  const places = whole === '0' ? fraction.search(/[1-9]/) + digits : digits - whole.length;
  if (fraction.length <= places) return amount;
  const scaled = BigInt(whole + fraction);
  const unit = 10n ** BigInt(fraction.length - Math.max(0, places));
  return inUnits(((scaled + unit / 2n) / unit).toString(), Math.max(0, places));
}

/** `value` is in the smallest unit, `minimum` in units. */
export function isBelow(value: string, decimals: number, minimum: string): boolean {
  const [whole = '0', fraction = ''] = minimum.split('.');
  const places = Math.max(decimals, fraction.length);
  const scaled = (text: string, by: number) => BigInt(text + '0'.repeat(by));
  return scaled(value, places - decimals) < scaled(whole + fraction, places - fraction.length);
}

/** False for NFTs, and if the amount or its decimals are unknown. */
export function isLessThan(
  minimum: string,
  transfer: Pick<Transfer, 'kind' | 'value' | 'decimals' | 'tokenId'>,
): boolean {
  const { value, decimals } = transfer;
  return value !== null && decimals !== null && !isItem(transfer) && isBelow(value, decimals, minimum);
}

/** `transfer` is equal for every body about the same movement. Names, decimals, gas and the block may differ. */
export function keysOf(scope: number, event: TransferEvent): { transfer: string; delivery: string } {
  const { projectId, addressType, direction, transfer } = event;
  const { kind, txHash, token, from, to, tokenId, value, blockHash, internal } = transfer;
  const amount = tokenId === null ? value : `${tokenId}/${value ?? ''}`;
  const ofTransfer = JSON.stringify([scope, mergedKind(kind), txHash, token, from, to, amount]);
  const key = hash('sha256', ofTransfer).slice(0, 32);
  const ofDelivery = JSON.stringify([key, blockHash, projectId, addressType, direction, internal]);
  return { transfer: key, delivery: hash('sha256', ofDelivery).slice(0, 32) };
}

/** Worth is in US dollars: exact, in units of 10⁻¹⁸ dollars. */
const PLACES = 18;

export interface ChainPrices {
  /** Dollars for one unit, as decimal text; null: not known. Needs no request. */
  of(asset: Asset, decimals: number | null): string | null;
  ask(assets: readonly Asset[], waitMs?: number): Promise<void>;
}

type Priced = Pick<Transfer, 'kind' | 'value' | 'decimals' | 'tokenId' | 'price'>;

/** null: not known. */
export function worthOf(transfer: Priced, count = 1): bigint | null {
  const { value, decimals, price } = transfer;
  if (!price || value === null || decimals === null || isItem(transfer)) return null;
  const [whole = '0', fraction = ''] = price.split('.');
  const product = BigInt(value) * BigInt(count) * BigInt(whole + fraction);
  const places = decimals + fraction.length;
  return places > PLACES ? product / 10n ** BigInt(places - PLACES) : product * 10n ** BigInt(PLACES - places);
}

/** null: one of them is not known. */
export function sumOfWorth(moved: Iterable<{ transfer: Priced; count: number }>): bigint | null {
  let sum = 0n;
  for (const { transfer, count } of moved) {
    const worth = worthOf(transfer, count);
    if (worth === null) return null;
    sum += worth;
  }
  return sum;
}

/** What has no price comes last. */
export const byWorth = (a: bigint | null, b: bigint | null): number =>
  a === b ? 0 : b === null || (a !== null && a > b) ? -1 : 1;

export const inDollars = (worth: bigint): string => inUnits(worth.toString(), PLACES);

/** False for what has no known price. */
export function isWorthLess(minimum: string, transfer: Priced): boolean {
  const worth = worthOf(transfer);
  return worth !== null && isBelow(worth.toString(), PLACES, minimum);
}

/** Whether one price is more than ten times the other. */
export function isFarFrom(a: string, b: string): boolean {
  const exceeds = (low: string, high: string) => {
    const [whole = '0', fraction = ''] = low.split('.');
    return isBelow(`${whole}${fraction}0`, fraction.length, high);
  };
  return exceeds(a, b) || exceeds(b, a);
}
