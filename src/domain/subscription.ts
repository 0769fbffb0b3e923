import type { AddressText, Asset } from './address.ts';
import type { Transfer } from './transfer.ts';

export type DirectionFilter = 'any' | 'incoming' | 'outgoing';
/** `nft` covers ERC-721 and ERC-1155. */
export type KindFilter = 'any' | 'native' | 'erc20' | 'nft';

export interface Filters {
  /** Native transfers that a contract made inside a transaction. */
  internal: boolean;
  zero: boolean;
  self: boolean;
  cataloged: boolean;
  /** Decimal text by asset, in its units; overrides the subscription's own minimum. */
  minimums: Partial<Record<Asset, string>>;
  /** Only these; empty: all. */
  tokens: Asset[];
  deniedTokens: Asset[];
  /** Only these; empty: all. */
  counterparties: AddressText[];
  deniedCounterparties: AddressText[];
}

export const DEFAULT_FILTERS: Filters = {
  internal: true,
  zero: false,
  self: false,
  cataloged: false,
  minimums: {},
  tokens: [],
  deniedTokens: [],
  counterparties: [],
  deniedCounterparties: [],
};

/** The latest possible time: muted until somebody unmutes. */
export const FOREVER = 8_640_000_000_000_000;

/** Two lines each, or a tall card with every detail. */
export type AlertStyle = 'compact' | 'full';

export const styleOf = (own: AlertStyle | null, ofGuild: AlertStyle | null): AlertStyle => own ?? ofGuild ?? 'compact';

export const sharedStyle = (styles: readonly AlertStyle[]): AlertStyle =>
  styles.includes('full') ? 'full' : 'compact';

export interface Choices {
  label: string | null;
  direction: DirectionFilter;
  kind: KindFilter;
  /** Decimal text in the token's units (`0.5`). */
  minimum: string | null;
  /** Decimal text in US dollars. What has no price is posted. */
  minimumUsd: string | null;
  token: AddressText | null;
  mention: string | null;
  filters: Filters;
  digest: 'hourly' | 'daily' | null;
  /** `22:00-07:00` in the guild's time zone. */
  quiet: string | null;
  /** Digests, quiet hours and token mutes also hold what leaves the address. */
  holdAll: boolean;
  mentionMinimum: string | null;
  mentionMinimumUsd: string | null;
  /** Minutes. */
  mentionCooldown: number;
  watchSilence: boolean;
  /** null: as the guild chose. */
  style: AlertStyle | null;
  showBalance: boolean;
  /** A balance below this is reported; an amount of the coin, or `amount address` of a token. */
  warnBelow: string | null;
}

export interface Subscription extends Choices {
  id: number;
  guildId: string;
  channelId: string;
  address: AddressText;
  /** null: on any. */
  network: number | null;
  paused: boolean;
  mutedUntil: number | null;
  createdBy: string;
  createdAt: number;
  lastEventAt: number | null;
  /** By a significant alert. */
  mentionedAt: number | null;
  /** By any other alert: these have a cool-down of their own. */
  minorMentionedAt: number | null;
}

export function thresholdOf(warnBelow: string): { amount: string; asset: Asset } {
  const [amount = '', asset = 'native'] = warnBelow.split(' ');
  return { amount, asset: asset as Asset };
}

export const addressesOf = (all: readonly Pick<Subscription, 'address'>[]): AddressText[] => [
  ...new Set(all.map(({ address }) => address)),
];

export const isMuted = ({ mutedUntil }: Pick<Subscription, 'mutedUntil'>, now: number): boolean =>
  mutedUntil !== null && mutedUntil > now;

export type Watcher = Pick<
  Subscription,
  | 'id'
  | 'guildId'
  | 'channelId'
  | 'address'
  | 'direction'
  | 'kind'
  | 'minimum'
  | 'minimumUsd'
  | 'token'
  | 'paused'
  | 'mutedUntil'
  | 'filters'
  | 'digest'
  | 'quiet'
  | 'holdAll'
  | 'mentionMinimum'
  | 'mentionMinimumUsd'
>;

/** Whether the subscription names the transfer's token. */
export function asksFor({ address, token, filters }: Watcher, transfer: Transfer): boolean {
  const contract = transfer.token;
  return (
    contract !== null &&
    (address === contract ||
      token === contract ||
      filters.tokens.includes(contract) ||
      filters.minimums[contract] !== undefined)
  );
}

export const DEFAULT_CHOICES: Choices = {
  label: null,
  direction: 'any',
  kind: 'any',
  minimum: null,
  minimumUsd: null,
  token: null,
  mention: null,
  filters: DEFAULT_FILTERS,
  digest: null,
  quiet: null,
  holdAll: false,
  mentionMinimum: null,
  mentionMinimumUsd: null,
  mentionCooldown: 5,
  watchSilence: false,
  style: null,
  showBalance: false,
  warnBelow: null,
};

export type Perspective = 'incoming' | 'outgoing' | 'self' | 'token';

export type NewSubscription = Pick<Subscription, 'guildId' | 'channelId' | 'address' | 'createdBy' | 'createdAt'> &
  Partial<Choices & Pick<Subscription, 'network'>>;

/** Filters that are not named stay. */
export type SubscriptionChange = Partial<
  Omit<Choices, 'filters'> & Pick<Subscription, 'channelId' | 'network' | 'paused' | 'mutedUntil'>
> & { filters?: Partial<Filters> };

/** `change`: what differs from the existing subscription, or from the defaults if there is none. */
export interface ImportedSubscription {
  address: AddressText;
  channelId: string;
  /** Default: any. */
  network?: number | null;
  change: Omit<SubscriptionChange, 'channelId' | 'network'>;
}

export interface SubscriptionImport {
  guildId: string;
  userId: string;
  added: ImportedSubscription[];
  changed: ImportedSubscription[];
  labels: { address: AddressText; name: string }[];
  at: number;
}

export interface ImportLimits {
  subscriptions: number;
  /** Default: any number. */
  channelsPerAddress?: number;
  labels: number;
}

export interface TokenMute {
  token: Asset;
  until: number;
}
