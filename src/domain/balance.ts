import { Temporal } from 'temporal-polyfill';
import type { AddressText, Asset } from './address.ts';
import type { BlockRange } from './completeness.ts';
import type { StatementPeriod } from './guild.ts';
import type { Subscription } from './subscription.ts';
import { catalogedAmong, type KnownToken } from './token.ts';
import type { Transfer } from './transfer.ts';

export interface Holding {
  asset: Asset;
  address: AddressText;
}

/** What a transfer left to a party at the end of `block`, in the asset's smallest unit. */
export interface LeftBalance {
  transferId: number;
  block: number;
  address: AddressText;
  balance: string;
}

export interface WatchedBalance
  extends Pick<Subscription, 'guildId' | 'channelId' | 'address' | 'label' | 'mention' | 'mutedUntil'> {
  subscription: number;
  warnBelow: string;
  /** null: not read yet with this `warnBelow`. */
  isLow: boolean | null;
}

export interface BalanceState extends Pick<WatchedBalance, 'subscription' | 'warnBelow'> {
  network: number;
  isLow: boolean;
}

export interface Crossing {
  watched: WatchedBalance;
  isLow: boolean;
  /** In units, as is the limit. */
  balance: string;
  limit: string;
  /** null: the coin. */
  symbol: string | null;
  asset: Asset;
  block: number;
}

/** null: it moved no amount, or a token without a contract. */
export function assetOf({ kind, token }: Transfer): Asset | null {
  if (kind === 'native') return 'native';
  return kind === 'erc20' ? token : null;
}

/** The balance to read after a transfer; null: the address is no party, or the balance cannot be read. */
export function leftBy(transfer: Transfer, address: AddressText): (Holding & { block: number }) | null {
  const { from, to, blockNumber: block } = transfer;
  const asset = assetOf(transfer);
  return asset !== null && block !== null && (address === from || address === to) ? { asset, address, block } : null;
}

export interface Wallet {
  address: AddressText;
  label: string | null;
  since: number;
}

export type AssetWords = Pick<Transfer, 'kind' | 'token' | 'tokenName' | 'tokenSymbol' | 'tokenType' | 'decimals'>;

/** By `walletKey`: balances by asset after a block, and what names the assets. */
export type KeptBalances = Record<
  string,
  { block: number; of: Partial<Record<Asset, string>>; words?: Partial<Record<Asset, AssetWords>> }
>;

export const walletKey = ({ network, address }: Pick<Statement, 'network' | 'address'>): string =>
  `${network} ${address}`;

/** `until`: the end of the latest statement; null: none has begun. */
export interface StatementPlan {
  guildId: string;
  period: StatementPeriod;
  timezone: string | null;
  until: number | null;
  closing: KeptBalances;
}

const startOf = (day: Temporal.ZonedDateTime, period: StatementPeriod): Temporal.ZonedDateTime =>
  (period === 'weekly' ? day.subtract({ days: day.dayOfWeek - 1 }) : day.with({ day: 1 })).startOfDay();

/** A week begins on Monday, a month on its first day. */
export function periodAt(at: number, period: StatementPeriod, timezone: string): { since: number; until: number } {
  const start = startOf(Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone), period);
  const end = startOf(start.add(period === 'weekly' ? { days: 7 } : { months: 1 }), period);
  return { since: start.epochMilliseconds, until: end.epochMilliseconds };
}

export interface StatementRequest {
  network: number;
  scope: number;
  address: AddressText;
  since: number;
  until: number;
  /** Maximum number of assets: the coin, then those with the most transfers. */
  max: number;
  /** The closing balances of the statement before, which open this one. */
  before?: KeptBalances[string] | undefined;
  wants(asset: Asset): boolean;
}

/** Amounts are in the smallest unit. Balances are null if they are unknown. */
export interface AssetSum {
  asset: Asset;
  transfer: AssetWords | null;
  transfers: number;
  opening: bigint | null;
  incoming: bigint;
  outgoing: bigint;
  fees: bigint;
  closing: bigint | null;
}

export interface Statement {
  network: number;
  address: AddressText;
  range: BlockRange;
  sums: AssetSum[];
  /** Transactions that the address sent and no known transfer names, where the coin does not add up; otherwise null. */
  others: number | null;
}

/** `unknown`: nothing was compared with the chain in that time. */
export type StatementOutcome = { status: 'read'; statement: Statement } | { status: 'unknown' | 'away' };

export interface GuildStatement {
  plan: StatementPlan;
  since: number;
  until: number;
  wallets: (Wallet & { statement: Statement })[];
  known: KnownToken[];
  language: string | null;
}

/** By how much the closing balance differs from the opening one with all that moved; null: one is unknown. */
export const differenceOf = ({ opening, incoming, outgoing, fees, closing }: AssetSum): bigint | null =>
  opening === null || closing === null ? null : closing - opening - incoming + outgoing + fees;

/** The assets that statements count: anybody can make a token, but not one that the explorer's catalog lists. */
export function countedAssets(known: readonly KnownToken[]): (asset: Asset) => boolean {
  const cataloged = catalogedAmong(known);
  return (asset) => asset === 'native' || cataloged.size === 0 || cataloged.has(asset);
}
