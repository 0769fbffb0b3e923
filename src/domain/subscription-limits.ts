import type { AddressText } from './address.ts';
import { type Label, type LabelRefusal, labelRefusal } from './guild.ts';
import {
  DEFAULT_FILTERS,
  type ImportedSubscription,
  type ImportLimits,
  type NewSubscription,
  type Subscription,
  type SubscriptionChange,
  type SubscriptionImport,
} from './subscription.ts';

/** Which subscriptions a guild may add, change and import. Where several reasons apply, the first one counts. */

export type AdditionRefusal =
  | { status: 'exists'; subscription: Subscription }
  | { status: 'full' }
  | { status: 'crowded' }
  | LabelRefusal;

export interface AdditionFacts {
  /** The channel's subscription to the same address on the same network, or on any like this one. */
  existing: Subscription | null;
  subscriptions: number;
  channels: number;
  /** May be empty for a subscription without a label. */
  book: readonly Label[];
}

export function additionRefusal(
  { address, label = null }: Pick<NewSubscription, 'address' | 'label'>,
  { existing, subscriptions, channels, book }: AdditionFacts,
  limits: { subscriptions: number; channelsPerAddress: number },
): AdditionRefusal | null {
  if (existing) return { status: 'exists', subscription: existing };
  if (subscriptions >= limits.subscriptions) return { status: 'full' };
  if (channels >= limits.channelsPerAddress) return { status: 'crowded' };
  return label === null ? null : labelRefusal(book, new Map([[address, label]]));
}

export type ChangeRefusal = Exclude<AdditionRefusal, { status: 'full' | 'crowded' }>;

export function changeRefusal(
  { id, address }: Pick<Subscription, 'id' | 'address'>,
  { label = null }: Pick<SubscriptionChange, 'label'>,
  { existing, book }: Pick<AdditionFacts, 'existing' | 'book'>,
): ChangeRefusal | null {
  if (existing && existing.id !== id) return { status: 'exists', subscription: existing };
  return label === null ? null : labelRefusal(book, new Map([[address, label]]));
}

/** `stale`: the guild changed since the file was checked. `crowded`: an address in too many channels. */
export type ImportRefusal = 'stale' | 'full' | 'crowded' | 'labels-full';

export interface ImportFacts {
  /** Those that the file names by address and channel, in whatever guild. */
  existing: readonly Pick<Subscription, 'guildId' | 'address' | 'channelId' | 'network'>[];
  channels: ReadonlyMap<AddressText, number>;
  book: readonly Label[];
}

export function importRefusal(
  file: SubscriptionImport,
  { existing, channels, book }: ImportFacts,
  { subscriptions, channelsPerAddress = Number.POSITIVE_INFINITY, labels }: ImportLimits,
): ImportRefusal | null {
  const { added } = file;
  const unnamed = labelRefusal(book, namesInFile(file), labels);
  if (isStale(file, existing) || unnamed?.status === 'label-taken') return 'stale';
  const current = channels.values().reduce((sum, count) => sum + count, 0);
  if (added.length > 0 && current + added.length > subscriptions) return 'full';
  for (const [address, rows] of Map.groupBy(added, (row) => row.address))
    if ((channels.get(address) ?? 0) + rows.length > channelsPerAddress) return 'crowded';
  return unnamed && 'labels-full';
}

function isStale({ guildId, added, changed }: SubscriptionImport, existing: ImportFacts['existing']): boolean {
  const owners = new Map(existing.map((subscription) => [subscriptionKey(subscription), subscription.guildId]));
  const keys = new Set(added.map(subscriptionKey));
  return (
    keys.size < added.length ||
    added.some((row) => owners.has(subscriptionKey(row))) ||
    changed.some((row) => owners.get(subscriptionKey(row)) !== guildId)
  );
}

export const subscriptionKey = ({
  address,
  channelId,
  network,
}: Pick<Subscription, 'address' | 'channelId'> & Partial<Pick<Subscription, 'network'>>): string =>
  `${address} ${channelId} ${network ?? 'any'}`;

/** null removes a name. No row removes a name that another one gives. */
export function namesInFile({ added, changed, labels }: SubscriptionImport): Map<AddressText, string | null> {
  const own = [...added, ...changed].flatMap(({ address, change: { label } }) =>
    label === undefined ? [] : [[address, label] as const],
  );
  const all = [...own, ...labels.map(({ address, name }) => [address, name] as const)];
  return new Map(all.toSorted(([, a], [, b]) => Number(a !== null) - Number(b !== null)));
}

export const importedSubscription = (
  { guildId, userId, at }: SubscriptionImport,
  { address, channelId, network = null, change: { filters, ...choices } }: ImportedSubscription,
): NewSubscription & Partial<Pick<Subscription, 'paused' | 'mutedUntil'>> => ({
  guildId,
  channelId,
  address,
  network,
  createdBy: userId,
  createdAt: at,
  ...choices,
  filters: { ...DEFAULT_FILTERS, ...filters },
});
