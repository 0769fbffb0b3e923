import type { AddressText } from '../../domain/address.ts';
import type { DeadLetter } from '../../domain/batch.ts';
import type { ChannelState } from '../../domain/channel.ts';
import type { RecordedAlert } from '../../domain/history.ts';
import type { Asset, Perspective } from '../../domain/subscription.ts';
import type { KnownToken } from '../../domain/token.ts';
import type { Transfer } from '../../domain/transfer.ts';
import type { Warning } from '../../domain/warning.ts';

/** What rows of every engine mean. The tables and columns have the same names everywhere; flags are 0 and 1 or booleans. */

/** Tables in which a guild's rows stay longer than 30 days. */
export const TRACES = ['guilds', 'subscriptions', 'labels', 'projects', 'channels', 'audit', 'confirmations'];

/** Small tables that cause new alerts: an erasure deletes a guild's rows in them first, and at once. */
export const ERASED_BY_GUILD = [
  'subscriptions',
  'labels',
  'token_mutes',
  'webhook_names',
  'guilds',
  'confirmations',
  'guild_removals',
];
/** Small tables of the guild's own project: an erasure deletes its rows in them before the project itself. */
export const ERASED_BY_SCOPE = ['heads', 'quarantine', 'inbox', 'scope_usage', 'receiver_tokens'];

/** The single values in `meta`, by their keys. */
export const META_KEYS = {
  worked: 'worked-until',
  pauses: 'pauses',
  pruned: 'forgotten-before',
  identified: 'identified-at',
  nativeSymbol: 'native-symbol',
} as const;

/** Selects an `OldestFrozen`; a condition may follow. */
export const OLDEST_FROZEN = `SELECT min(id) FILTER (WHERE edit_kind IS NULL OR edit_kind = 'join') AS message,
    min(id) FILTER (WHERE edit_kind = 'change') AS change, min(id) FILTER (WHERE edit_kind = 'label') AS label
  FROM batches WHERE state = 'frozen'`;

type Message = NonNullable<RecordedAlert['message']>;

/** The columns of a row that is joined, or null in each where there is none. */
type Joined<Row> = Row | { [Column in keyof Row]: null };

type AlertColumns = Omit<
  RecordedAlert,
  'warnings' | 'perspectives' | 'message' | 'channel' | 'collectingUntil' | 'dead'
>;
type Counted = Pick<Message, 'alerts' | 'together'>;
type MessageColumns = Omit<Message, keyof Counted> & { batchId: number };

/** An alert with its message, its channel and its dead letter. */
export type RecordedAlertRow = AlertColumns &
  Counted & { warnings: string; matches: string } & Joined<MessageColumns> &
  Joined<{ channelState: ChannelState; channelDueAt: number; channelReason: string | null }> &
  Joined<{ deadReason: string; deadAt: number }>;

/** Creates a recorded alert from its row. `collectingUntil`: when the channel's burst is posted; null: none. */
export function toRecordedAlert(row: RecordedAlertRow, collectingUntil: number | null): RecordedAlert {
  const { channelId, createdAt, state, hold, dueAt, discardedAt } = row;
  return {
    channelId,
    createdAt,
    state,
    hold,
    dueAt,
    discardedAt,
    warnings: JSON.parse(row.warnings) as Warning[],
    perspectives: (JSON.parse(row.matches) as { perspective: Perspective }[]).map((match) => match.perspective),
    message: row.batchId === null ? null : messageOf(row),
    channel:
      row.channelState === null
        ? null
        : { state: row.channelState, dueAt: row.channelDueAt, reason: row.channelReason },
    collectingUntil,
    dead: row.deadReason === null ? null : { reason: row.deadReason, at: row.deadAt },
  };
}

function messageOf({ kind, reason, attempts, frozenAt, sentAt, messageId, alerts, together }: Message): Message {
  return { kind, reason, attempts, frozenAt, sentAt, messageId, alerts, together };
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
