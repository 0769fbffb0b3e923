import { Temporal } from 'temporal-polyfill';
import type { AddressText, Asset } from './address.ts';
import type { BlockRange } from './completeness.ts';
import type { StatementPeriod } from './guild.ts';
import type { Subscription } from './subscription.ts';
import { catalogedAmong, type KnownToken } from './token.ts';
import type { Transfer } from './transfer.ts';

/** An asset in an address's hands. */
export interface Holding {
  asset: Asset;
  address: AddressText;
}

/** What a transfer left to one of its parties, in the asset's smallest unit. */
export interface LeftBalance {
  transferId: number;
  /** At whose end. */
  block: number;
  address: AddressText;
  balance: string;
}

/** A subscription that warns of a low balance, on one network. */
export interface WatchedBalance
  extends Pick<Subscription, 'guildId' | 'channelId' | 'address' | 'label' | 'mention' | 'mutedUntil'> {
  subscription: number;
  warnBelow: string;
  /** What was found last with this `warnBelow`; null: nothing. */
  isLow: boolean | null;
}

/** What a subscription's balance was found to be. */
export interface BalanceState {
  subscription: number;
  network: number;
  warnBelow: string;
  isLow: boolean;
}

/** A balance that fell below its limit, or is above it again, to be shown. */
export interface Crossing {
  watched: WatchedBalance;
  isLow: boolean;
  /** In units. */
  balance: string;
  limit: string;
  /** null: the coin. */
  symbol: string | null;
  asset: Asset;
  block: number;
}

/** The asset of which a transfer moved an amount; null: it moved something else, or a token without a contract. */
export function assetOf({ kind, token }: Transfer): Asset | null {
  if (kind === 'native') return 'native';
  return kind === 'erc20' ? token : null;
}

/** What a transfer left: of an address that is one of its parties, at a block; null: nothing that can be read. */
export function leftBy(transfer: Transfer, address: AddressText): (Holding & { block: number }) | null {
  const { from, to, blockNumber: block } = transfer;
  const asset = assetOf(transfer);
  return asset !== null && block !== null && (address === from || address === to) ? { asset, address, block } : null;
}

/** A watched address of a guild on one network, and since when it is watched. */
export interface Wallet {
  address: AddressText;
  label: string | null;
  since: number;
}

/** What a transfer says about the asset that it moved. */
export type AssetWords = Pick<Transfer, 'kind' | 'token' | 'tokenName' | 'tokenSymbol' | 'tokenType' | 'decimals'>;

/** Balances by asset after a block, and what names those that are left, each by `walletKey`. */
export type KeptBalances = Record<
  string,
  { block: number; of: Partial<Record<Asset, string>>; words?: Partial<Record<Asset, AssetWords>> }
>;

export const walletKey = ({ network, address }: Pick<Statement, 'network' | 'address'>): string =>
  `${network} ${address}`;

/** A guild that wants statements. `until`: the end of the latest one; null: none has begun. */
export interface StatementPlan {
  guildId: string;
  period: StatementPeriod;
  timezone: string | null;
  until: number | null;
  closing: KeptBalances;
}

const startOf = (day: Temporal.ZonedDateTime, period: StatementPeriod): Temporal.ZonedDateTime =>
  (period === 'weekly' ? day.subtract({ days: day.dayOfWeek - 1 }) : day.with({ day: 1 })).startOfDay();

/** When the period that contains a time began, and when it ends: Mondays, or firsts of a month. */
export function periodAt(at: number, period: StatementPeriod, timezone: string): { since: number; until: number } {
  const start = startOf(Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone), period);
  const end = startOf(start.add(period === 'weekly' ? { days: 7 } : { months: 1 }), period);
  return { since: start.epochMilliseconds, until: end.epochMilliseconds };
}

/** Which statement is wanted. */
export interface StatementRequest {
  network: number;
  /** Whose deliveries count. */
  scope: number;
  address: AddressText;
  since: number;
  until: number;
  /** Most assets; the coin, then those with the most transfers. */
  max: number;
  /** It goes on there, with these balances. */
  before?: KeptBalances[string] | undefined;
  wants(asset: Asset): boolean;
}

/** What an asset did at an address, in its smallest unit. Balances are null if they are unknown. */
export interface AssetSum {
  asset: Asset;
  /** One of its transfers, for its name and decimals; null: none. */
  transfer: AssetWords | null;
  transfers: number;
  opening: bigint | null;
  incoming: bigint;
  outgoing: bigint;
  fees: bigint;
  closing: bigint | null;
}

/** What an address had after one block and after another, and what moved in between. */
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

/** A guild's statement of one period. */
export interface GuildStatement {
  plan: StatementPlan;
  since: number;
  until: number;
  wallets: (Wallet & { statement: Statement })[];
  known: KnownToken[];
  language: string | null;
}

/** By how much the balances differ otherwise than by what moved; null: they are unknown. */
export const differenceOf = ({ opening, incoming, outgoing, fees, closing }: AssetSum): bigint | null =>
  opening === null || closing === null ? null : closing - opening - incoming + outgoing + fees;

/** The assets that statements count: anybody can make a token, but not one that the explorer's catalog lists. */
export function countedAssets(known: readonly KnownToken[]): (asset: Asset) => boolean {
  const cataloged = catalogedAmong(known);
  return (asset) => asset === 'native' || cataloged.size === 0 || cataloged.has(asset);
}
