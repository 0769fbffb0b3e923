import type { AddressText, Asset } from './address.ts';
import { HOUR } from './clock.ts';

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

/** The style of an alert that several subscriptions share. */
export function styleOf(own: readonly (AlertStyle | null)[], ofGuild: AlertStyle | null): AlertStyle {
  for (const style of own) if ((style ?? ofGuild) === 'full') return 'full';
  return 'compact';
}

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

export const leaves = (perspective: Perspective): boolean => perspective === 'outgoing' || perspective === 'self';

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

/** At least this many `events`, on average at most `gapMs` apart. */
export const BUSY = { events: 20, gapMs: 2 * HOUR };
/** After this many average gaps, but not before `minMs`. */
const SILENT = { gaps: 12, minMs: 6 * HOUR };

export interface Silence extends Pick<Subscription, 'guildId' | 'channelId' | 'address' | 'label' | 'mutedUntil'> {
  subscription: number;
  lastEventAt: number;
  gapMs: number;
  /** When the guild's project last had an event of any address; null: unknown. */
  feedAt: number | null;
}

export const isSilent = ({ gapMs, lastEventAt }: Pick<Silence, 'gapMs' | 'lastEventAt'>, now: number): boolean =>
  now - lastEventAt >= Math.max(SILENT.minMs, SILENT.gaps * gapMs);

export const deservesNotice = (busy: Omit<Silence, 'feedAt'>, now: number): boolean =>
  isSilent(busy, now) && !isMuted(busy, now);

/** True: the feed may be down, not just this address quiet. */
export const isFeedSilent = ({ gapMs, feedAt }: Pick<Silence, 'gapMs' | 'feedAt'>, now: number): boolean =>
  feedAt === null || isSilent({ gapMs, lastEventAt: feedAt }, now);

/** Events closer together than this count as one movement, such as the transfers of one transaction. */
const MOVEMENT_MS = 10_000;

export interface ActivityStats {
  events: number;
  lastEventAt: number;
  /** Between two movements, in milliseconds; the latest count most. Null before the second movement. */
  gapMs: number | null;
}

/** An event that arrives late does not move `lastEventAt` back. */
export function afterEvent(before: ActivityStats | undefined, at: number): ActivityStats {
  if (!before) return { events: 1, lastEventAt: at, gapMs: null };
  const { events, lastEventAt, gapMs } = before;
  const elapsed = at - lastEventAt;
  const averaged = gapMs === null ? elapsed : Math.trunc(0.8 * gapMs + 0.2 * elapsed);
  return {
    events: events + 1,
    lastEventAt: Math.max(lastEventAt, at),
    gapMs: elapsed < MOVEMENT_MS ? gapMs : averaged,
  };
}
