import type { AddressText } from '../../domain/address.ts';
import type { DeadLetter } from '../../domain/batch.ts';
import type { ChannelState } from '../../domain/channel.ts';
import type { StoryAlert } from '../../domain/history.ts';
import {
  type Asset,
  DEFAULT_FILTERS,
  type Filters,
  type Perspective,
  type Subscription,
  type SubscriptionImport,
} from '../../domain/subscription.ts';
import type { KnownToken } from '../../domain/token.ts';
import type { Transfer } from '../../domain/transfer.ts';
import type { Warning } from '../../domain/warning.ts';

/** What rows of every engine mean. The tables and columns have the same names everywhere; flags are 0 and 1 or booleans. */

/** A subscription's label, in a statement that reads `subscriptions`. */
export const LABEL_OF_SUBSCRIPTION = `(SELECT name FROM labels
  WHERE labels.guild_id = subscriptions.guild_id AND labels.address = subscriptions.address)`;

/** Tables in which a guild's rows stay longer than 30 days. */
export const TRACES = ['guilds', 'subscriptions', 'labels', 'projects', 'channels', 'audit', 'confirmations'];

/** Selects an `OldestFrozen`; a condition may follow. */
export const OLDEST_FROZEN = `SELECT min(id) FILTER (WHERE edit_kind IS NULL OR edit_kind = 'join') AS message,
    min(id) FILTER (WHERE edit_kind = 'change') AS change, min(id) FILTER (WHERE edit_kind = 'label') AS label
  FROM batches WHERE state = 'frozen'`;

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
export const selected = (keys: readonly (keyof Subscription)[]): string =>
  keys.map((key) => `${SUBSCRIPTION_COLUMNS[key]} AS "${key}"`).join(', ');

/** Selects whole subscriptions, with when they last had an event. */
export const SELECT_SUBSCRIPTIONS = `SELECT ${selected(Object.keys(SUBSCRIPTION_COLUMNS) as (keyof Subscription)[])}
  FROM subscriptions LEFT JOIN activity_stats ON subscription_id = id`;

const UNFILTERED = ['{}', JSON.stringify(DEFAULT_FILTERS)];

/** Parses filters. Subscriptions without filters share one object, so a message between threads contains it once. */
export const toFilters = (text: string): Filters =>
  UNFILTERED.includes(text) ? DEFAULT_FILTERS : { ...DEFAULT_FILTERS, ...(JSON.parse(text) as Partial<Filters>) };

/** Creates a subscription from its row. */
export const toSubscription = (row: SubscriptionRow): Subscription => ({
  ...row,
  paused: Boolean(row.paused),
  watchSilence: Boolean(row.watchSilence),
  filters: toFilters(row.filters),
});

/** The names that a file sets for addresses (null: removes); no row removes a name that another one sets. */
export function namesIn({ added, changed, labels }: SubscriptionImport): Map<AddressText, string | null> {
  const own = [...added, ...changed].flatMap(({ address, change: { label } }) =>
    label === undefined ? [] : [[address, label] as const],
  );
  const all = [...own, ...labels.map(({ address, name }) => [address, name] as const)];
  return new Map(all.toSorted(([, one], [, other]) => Number(one !== null) - Number(other !== null)));
}

/** Rolls an import back. */
export class NotImported extends Error {
  readonly reason: 'full' | 'crowded' | 'stale';
  constructor(reason: 'full' | 'crowded' | 'stale') {
    super(reason);
    this.reason = reason;
  }
}

type MessageRow = NonNullable<StoryAlert['message']>;

/** An alert with its message, its channel and its dead letter. */
export interface StoryAlertRow
  extends Pick<StoryAlert, 'channelId' | 'createdAt' | 'state' | 'hold' | 'dueAt' | 'discardedAt'>,
    MessageRow {
  warnings: string;
  matches: string;
  batchId: number | null;
  channelState: ChannelState | null;
  channelDueAt: number;
  channelReason: string | null;
  deadReason: string | null;
  deadAt: number | null;
}

/** Creates an alert's story from its row. `gatheredUntil`: when the channel's burst is posted; null: none. */
export function toStoryAlert(row: StoryAlertRow, gatheredUntil: number | null): StoryAlert {
  const { channelId, createdAt, state, hold, dueAt, discardedAt } = row;
  const { kind, reason, attempts, frozenAt, sentAt, messageId, alerts, together } = row;
  return {
    channelId,
    createdAt,
    state,
    hold,
    dueAt,
    discardedAt,
    warnings: JSON.parse(row.warnings) as Warning[],
    perspectives: (JSON.parse(row.matches) as { perspective: Perspective }[]).map((match) => match.perspective),
    message: row.batchId === null ? null : { kind, reason, attempts, frozenAt, sentAt, messageId, alerts, together },
    channel:
      row.channelState === null
        ? null
        : { state: row.channelState, dueAt: row.channelDueAt, reason: row.channelReason },
    gatheredUntil,
    dead: row.deadReason === null ? null : { reason: row.deadReason, at: row.deadAt! },
  };
}

/** A token that moved at a guild's addresses. */
export interface SeenToken {
  token: AddressText | null;
  kind: string;
  symbol: string | null;
  type: string | null;
  cataloged: boolean | 0 | 1 | null;
}

/** What moved, in its order, then what the catalog lists besides. */
export function knownTokens(
  seen: readonly SeenToken[],
  listed: readonly { token: AddressText; symbol: string | null }[],
): KnownToken[] {
  const found = new Map<Asset, KnownToken>();
  for (const { token, kind, symbol, type, cataloged } of seen) {
    const asset = kind === 'native' ? 'native' : token;
    if (asset === null) continue;
    const named = asset === 'native' ? type : symbol;
    found.set(asset, { token: asset, symbol: named, cataloged: Boolean(cataloged), seen: true });
  }
  for (const { token, symbol } of listed) {
    if (!found.has(token)) found.set(token, { token, symbol, cataloged: true, seen: false });
  }
  return [...found.values()];
}

/** Selects {@link DeadLetterRow}s `d`. */
export const SELECT_DEAD_LETTERS = `SELECT d.id, d.kind, d.alert_id AS "alertId", d.channel_id AS "channelId", d.reason,
    d.payload, d.at, t.data
  FROM dead_letters d LEFT JOIN alerts a ON a.id = d.alert_id LEFT JOIN transfers t ON t.id = a.transfer_id`;

/** A dead letter with its transfer's data. */
export interface DeadLetterRow extends Omit<DeadLetter, 'transfer'> {
  data: string | null;
}

/** Creates a dead letter from its row. */
export const toDeadLetter = ({ data, ...row }: DeadLetterRow): DeadLetter => ({
  ...row,
  transfer: data === null ? null : (JSON.parse(data) as Transfer),
});
