import type { AddressText } from './address.ts';

/** Which way a transfer must go, seen from the watched address. */
export type DirectionFilter = 'any' | 'incoming' | 'outgoing';
/** Which kinds of transfer are told; `nft` covers ERC-721 and ERC-1155. */
export type KindFilter = 'any' | 'native' | 'erc20' | 'nft';

/** A token's contract, or the native coin. */
export type Asset = AddressText | 'native';

/** What narrows a subscription beyond direction, kind, minimum and token. */
export interface Filters {
  /** Native transfers that a contract made inside a transaction. */
  internal: boolean;
  /** Transfers of nothing. */
  zero: boolean;
  /** Transfers from an address to itself. */
  self: boolean;
  /** Only tokens that the explorer's catalogue has. */
  cataloged: boolean;
  /** Decimal text by asset, in its units; goes before the subscription's own minimum. */
  minimums: Partial<Record<Asset, string>>;
  /** Only these; empty = all. */
  tokens: Asset[];
  deniedTokens: Asset[];
  /** Only transfers from or to these; empty = all. */
  counterparties: AddressText[];
  deniedCounterparties: AddressText[];
}

/** Everything is told but what is mostly noise: transfers of nothing, and to oneself. */
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

/** `mutedUntil` of what is muted until somebody undoes it: the latest time that there is. */
export const FOREVER = 8_640_000_000_000_000;

/** How alerts look: two lines each, or a tall card with everything. Suspicious transfers are always tall. */
export type AlertStyle = 'compact' | 'full';

/** One address that one channel watches. */
export interface Subscription {
  id: number;
  guildId: string;
  channelId: string;
  address: AddressText;
  label: string | null;
  direction: DirectionFilter;
  kind: KindFilter;
  /** Decimal text in the token's units (`0.5`), null for no minimum. */
  minimum: string | null;
  /** Only transfers of this token. */
  token: AddressText | null;
  /** Role to mention. */
  mention: string | null;
  paused: boolean;
  /** Milliseconds; muted until then. */
  mutedUntil: number | null;
  createdBy: string;
  createdAt: number;
  /** When the last matching event was routed; null = "no event yet". */
  lastEventAt: number | null;
  filters: Filters;
  /** Told together at the end of the hour or day instead of line by line. */
  digest: 'hourly' | 'daily' | null;
  /** `22:00-07:00` in the guild's time zone: what comes then is told together afterwards. */
  quiet: string | null;
  /** Decimal text in the token's units: smaller amounts do not mention. */
  mentionMinimum: string | null;
  /** Minutes between two mentions. */
  mentionCooldown: number;
  mentionedAt: number | null;
  /** Unusual silence is told in the channel. */
  watchSilence: boolean;
  /** How its alerts look; null: as the guild chose. */
  style: AlertStyle | null;
}

/** What deciding about a transfer needs of a subscription. */
export type Watcher = Pick<
  Subscription,
  | 'id'
  | 'guildId'
  | 'channelId'
  | 'address'
  | 'direction'
  | 'kind'
  | 'minimum'
  | 'token'
  | 'paused'
  | 'mutedUntil'
  | 'filters'
  | 'digest'
  | 'quiet'
>;

/** What people choose about a subscription. */
export type Choices = Pick<
  Subscription,
  | 'label'
  | 'direction'
  | 'kind'
  | 'minimum'
  | 'token'
  | 'mention'
  | 'filters'
  | 'digest'
  | 'quiet'
  | 'mentionMinimum'
  | 'mentionCooldown'
  | 'watchSilence'
  | 'style'
>;

/** What is told when nothing is chosen. */
export const DEFAULT_CHOICES: Choices = {
  label: null,
  direction: 'any',
  kind: 'any',
  minimum: null,
  token: null,
  mention: null,
  filters: DEFAULT_FILTERS,
  digest: null,
  quiet: null,
  mentionMinimum: null,
  mentionCooldown: 5,
  watchSilence: false,
  style: null,
};

/** How a transfer looks from a watched address. `self` is a transfer from an address to itself. */
export type Perspective = 'incoming' | 'outgoing' | 'self' | 'token';

/** What somebody asks to be told about; the rest of a {@link Subscription} comes with time. */
export type NewSubscription = Pick<Subscription, 'guildId' | 'channelId' | 'address' | 'createdBy' | 'createdAt'> &
  Partial<Choices>;

/** What may change later; of the filters only those that are named. */
export type SubscriptionChange = Partial<
  Omit<Subscription, 'id' | 'guildId' | 'address' | 'createdBy' | 'createdAt' | 'lastEventAt' | 'filters'>
> & { filters?: Partial<Filters> };

/** What a file tells of one subscription: what differs from what is there, or from the defaults where there is none. */
export interface ImportedSubscription {
  address: AddressText;
  channelId: string;
  change: Partial<Omit<Choices, 'filters'> & Pick<Subscription, 'paused' | 'mutedUntil'>> & {
    filters?: Partial<Filters>;
  };
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
  /** Channels that may watch one address; default: any number. */
  channelsPerAddress?: number;
  labels: number;
}

/** A token of which nothing is told until then, in milliseconds. */
export interface TokenMute {
  token: Asset;
  until: number;
}
