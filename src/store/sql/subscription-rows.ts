import {
  DEFAULT_CHOICES,
  DEFAULT_FILTERS,
  type Filters,
  type NewSubscription,
  type Subscription,
  type SubscriptionChange,
  type Watcher,
} from '../../domain/subscription.ts';

/** What rows of subscriptions mean, whatever engine they are from. */

/** A subscription's label, in a statement that reads `subscriptions`. */
export const LABEL_OF_SUBSCRIPTION = `(SELECT name FROM labels
  WHERE labels.guild_id = subscriptions.guild_id AND labels.address = subscriptions.address)`;

/** A row of {@link SELECT_SUBSCRIPTIONS}; filters are JSON. */
export interface SubscriptionRow extends Omit<Subscription, 'paused' | 'watchSilence' | 'filters'> {
  paused: boolean | 0 | 1;
  watchSilence: boolean | 0 | 1;
  filters: string;
}

/** Every column by its name in {@link Subscription}. */
export const SUBSCRIPTION_COLUMNS: Record<keyof Subscription, string> = {
  id: 'id',
  guildId: 'guild_id',
  channelId: 'channel_id',
  address: 'address',
  label: LABEL_OF_SUBSCRIPTION,
  direction: 'direction',
  kind: 'kind',
  minimum: 'minimum',
  token: 'token',
  mention: 'mention',
  paused: 'paused',
  mutedUntil: 'muted_until',
  createdBy: 'created_by',
  createdAt: 'created_at',
  filters: 'filters',
  digest: 'digest',
  quiet: 'quiet',
  mentionMinimum: 'mention_minimum',
  mentionCooldown: 'mention_cooldown',
  mentionedAt: 'mentioned_at',
  watchSilence: 'watch_silence',
  style: 'style',
  lastEventAt: 'last_event_at',
};

/** Selects some columns of `subscriptions` under their names in {@link Subscription}. */
const selected = (keys: readonly (keyof Subscription)[]): string =>
  keys.map((key) => `${SUBSCRIPTION_COLUMNS[key]} AS "${key}"`).join(', ');

/** Selects whole subscriptions, with when they last had an event. */
export const SELECT_SUBSCRIPTIONS = `SELECT ${selected(Object.keys(SUBSCRIPTION_COLUMNS) as (keyof Subscription)[])}
  FROM subscriptions LEFT JOIN activity_stats ON subscription_id = id`;

const UNFILTERED = ['{}', JSON.stringify(DEFAULT_FILTERS)];

/** Parses filters. Subscriptions without filters share one object, so a message between threads contains it once. */
const toFilters = (text: string): Filters =>
  UNFILTERED.includes(text) ? DEFAULT_FILTERS : { ...DEFAULT_FILTERS, ...(JSON.parse(text) as Partial<Filters>) };

/** Creates a subscription from its row. */
export const toSubscription = (row: SubscriptionRow): Subscription => ({
  ...row,
  paused: Boolean(row.paused),
  watchSilence: Boolean(row.watchSilence),
  filters: toFilters(row.filters),
});

/** A subscription to add. An import may add one that is paused or muted. */
export type AddedSubscription = NewSubscription & Partial<Pick<Subscription, 'paused' | 'mutedUntil'>>;

/** What is stored unless something else was chosen; the label is in the guild's address book. */
const { label: _, ...STORED_DEFAULTS } = { ...DEFAULT_CHOICES, paused: false, mutedUntil: null };

/** The columns of a subscription that is added, by their names in {@link Subscription}. */
export const ADDED_KEYS = [
  ...(['guildId', 'channelId', 'address', 'createdBy', 'createdAt'] as const),
  ...(Object.keys(STORED_DEFAULTS) as (keyof typeof STORED_DEFAULTS)[]),
];

/** The values of {@link ADDED_KEYS}. */
export const storedAddition = ({ label: _, ...subscription }: AddedSubscription) => ({
  ...STORED_DEFAULTS,
  ...subscription,
});

/** What a change stores in a subscription's row: of the filters, only the named ones change. */
export const storedChange = (
  before: Pick<SubscriptionRow, 'filters'>,
  { filters, label: _, ...rest }: SubscriptionChange,
): Partial<Subscription> => (filters ? { ...rest, filters: { ...toFilters(before.filters), ...filters } } : rest);

/** Selects the columns of {@link WatcherRow}s. */
export const WATCHER_COLUMNS = selected([
  'id',
  'guildId',
  'channelId',
  'address',
  'direction',
  'kind',
  'minimum',
  'token',
  'paused',
  'mutedUntil',
  'filters',
  'digest',
  'quiet',
]);

/** The fields of a subscription that decide about a transfer; filters are JSON. */
export type WatcherRow = Omit<Watcher, 'paused' | 'filters'> & Pick<SubscriptionRow, 'paused' | 'filters'>;

/**
 * Creates a function that makes watchers of rows. Those with equal filters share one object, because parsing filters and
 * posting them to another thread is slow.
 */
export function watcherParser(): (row: WatcherRow) => Watcher {
  const known = new Map<string, Filters>();
  return (row) => {
    const filters = known.get(row.filters) ?? toFilters(row.filters);
    known.set(row.filters, filters);
    return { ...row, paused: Boolean(row.paused), filters };
  };
}
