import type { AddressText, Asset } from './address.ts';
import type { Transfer } from './transfer.ts';

/** Which way a transfer must go, seen from the watched address. */
export type DirectionFilter = 'any' | 'incoming' | 'outgoing';
/** Which kinds of transfer are posted; `nft` covers ERC-721 and ERC-1155. */
export type KindFilter = 'any' | 'native' | 'erc20' | 'nft';

/** Filters beyond direction, kind, minimum and token. */
export interface Filters {
  /** Native transfers that a contract made inside a transaction. */
  internal: boolean;
  /** Transfers of a zero amount. */
  zero: boolean;
  /** Transfers from an address to itself. */
  self: boolean;
  /** Only tokens that the explorer's catalog lists. */
  cataloged: boolean;
  /** Decimal text by asset, in its units; overrides the subscription's own minimum. */
  minimums: Partial<Record<Asset, string>>;
  /** Only these; empty = all. */
  tokens: Asset[];
  deniedTokens: Asset[];
  /** Only transfers from or to these; empty = all. */
  counterparties: AddressText[];
  deniedCounterparties: AddressText[];
}

/** Post everything except what is mostly noise: zero amounts and self-transfers. */
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

/** `mutedUntil` of a subscription that is muted until somebody unmutes it: the latest possible time. */
export const FOREVER = 8_640_000_000_000_000;

/** How alerts look: two lines each, or a tall card with every detail. Suspicious transfers are always cards. */
export type AlertStyle = 'compact' | 'full';

/** How the alerts of a subscription look: as chosen for it, or else for its guild. */
export const styleOf = (own: AlertStyle | null, ofGuild: AlertStyle | null): AlertStyle => own ?? ofGuild ?? 'compact';

/** How an alert looks that several subscriptions share: with every detail if one of them wants that. */
export const sharedStyle = (styles: readonly AlertStyle[]): AlertStyle =>
  styles.includes('full') ? 'full' : 'compact';

/** What people choose about a subscription. */
export interface Choices {
  /** The guild's name for the address; the same in all of its channels. */
  label: string | null;
  direction: DirectionFilter;
  kind: KindFilter;
  /** Decimal text in the token's units (`0.5`); null: no minimum. */
  minimum: string | null;
  /** Decimal text in US dollars: only what is worth at least this, or what has no price. */
  minimumUsd: string | null;
  /** Only transfers of this token. */
  token: AddressText | null;
  /** Role to mention. */
  mention: string | null;
  filters: Filters;
  /** One digest at the end of the hour or day instead of single alerts. */
  digest: 'hourly' | 'daily' | null;
  /** `22:00-07:00` in the guild's time zone: alerts in these hours are posted together afterwards. */
  quiet: string | null;
  /** Digests, quiet hours and token mutes also hold what leaves the address. */
  holdAll: boolean;
  /** Decimal text in the token's units: smaller amounts do not mention the role. */
  mentionMinimum: string | null;
  /** Decimal text in US dollars: what is worth less does not mention the role. */
  mentionMinimumUsd: string | null;
  /** Minimum minutes between two mentions. */
  mentionCooldown: number;
  /** Posts a notice in the channel after unusual silence. */
  watchSilence: boolean;
  /** How its alerts look; null: as the guild chose. */
  style: AlertStyle | null;
  /** Alerts show the balance that the transfer left. */
  showBalance: boolean;
  /** A balance below this is reported; an amount of the coin, or `amount address` of a token. */
  warnBelow: string | null;
}

/** An address that a channel watches. */
export interface Subscription extends Choices {
  id: number;
  guildId: string;
  channelId: string;
  address: AddressText;
  /** On which network it is watched; null: on any. */
  network: number | null;
  paused: boolean;
  /** Milliseconds; muted until then. */
  mutedUntil: number | null;
  createdBy: string;
  createdAt: number;
  /** When the last matching event was routed; null: no event yet. */
  lastEventAt: number | null;
  /** When significant alerts last mentioned the role. */
  mentionedAt: number | null;
  /** When other alerts last did: they have a cool-down of their own. */
  minorMentionedAt: number | null;
}

/** The amount, in units, and the asset of a `warnBelow`. */
export function thresholdOf(warnBelow: string): { amount: string; asset: Asset } {
  const [amount = '', asset = 'native'] = warnBelow.split(' ');
  return { amount, asset: asset as Asset };
}

/** The addresses that these watch, each once. */
export const addressesOf = (all: readonly Pick<Subscription, 'address'>[]): AddressText[] => [
  ...new Set(all.map(({ address }) => address)),
];

/** Whether a subscription is muted now. */
export const isMuted = ({ mutedUntil }: Pick<Subscription, 'mutedUntil'>, now: number): boolean =>
  mutedUntil !== null && mutedUntil > now;

/** The fields that decide about a transfer. */
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

/** Whether the subscription names the transfer's token: by watching it, or in its filters. */
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

/** The defaults. */
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

/** How a transfer looks from a watched address. `self` is a transfer from an address to itself. */
export type Perspective = 'incoming' | 'outgoing' | 'self' | 'token';

/** A subscription to add; the other fields of a {@link Subscription} are set later. */
export type NewSubscription = Pick<Subscription, 'guildId' | 'channelId' | 'address' | 'createdBy' | 'createdAt'> &
  Partial<Choices & Pick<Subscription, 'network'>>;

/** What may change later; only the named filters change. */
export type SubscriptionChange = Partial<
  Omit<Choices, 'filters'> & Pick<Subscription, 'channelId' | 'network' | 'paused' | 'mutedUntil'>
> & { filters?: Partial<Filters> };

/** One subscription in a file: what differs from the existing one, or from the defaults if there is none. */
export interface ImportedSubscription {
  address: AddressText;
  channelId: string;
  /** Default: any. */
  network?: number | null;
  change: Omit<SubscriptionChange, 'channelId' | 'network'>;
}

/** Everything that a file changes in one guild. */
export interface SubscriptionImport {
  guildId: string;
  userId: string;
  added: ImportedSubscription[];
  changed: ImportedSubscription[];
  labels: { address: AddressText; name: string }[];
  at: number;
}

/** How much of each a guild may have. */
export interface ImportLimits {
  subscriptions: number;
  /** Maximum number of channels that may watch one address; default: any number. */
  channelsPerAddress?: number;
  labels: number;
}

/** A muted token; `until` in milliseconds. */
export interface TokenMute {
  token: Asset;
  until: number;
}
