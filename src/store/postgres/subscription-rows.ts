import type { AddressText } from '../../domain/address.ts';
import type { Subscription, SubscriptionChange } from '../../domain/subscription.ts';
import {
  ADDED_KEYS,
  type AddedSubscription,
  SUBSCRIPTION_COLUMNS as COLUMNS,
  type SubscriptionRow as Row,
  SELECT_SUBSCRIPTIONS as SELECT,
  storedAddition,
  storedChange,
} from '../sql/subscription-rows.ts';
import type { Statements } from './connection.ts';

/** What adding, changing and importing subscriptions share; all of it is part of the caller's transaction. */

/** What may change later, by its name in {@link Subscription}. */
const CHANGEABLE = ADDED_KEYS.filter((key) => !['guildId', 'address', 'createdBy', 'createdAt'].includes(key));

const columnsOf = (keys: readonly (keyof Subscription)[], table = ''): string =>
  keys.map((key) => table + COLUMNS[key]).join(', ');

/** A guild's subscription by its ID. */
export const subscriptionOf = (sql: Statements, guildId: string, id: number): Promise<Row | undefined> =>
  sql.get<Row>(`${SELECT} WHERE guild_id = $1 AND id = $2`, guildId, id);

/** The subscription to an address in a channel, in whatever guild. */
export const subscriptionTo = (sql: Statements, address: AddressText, channelId: string): Promise<Row | undefined> =>
  sql.get<Row>(`${SELECT} WHERE address = $1 AND channel_id = $2`, address, channelId);

/** Those of these subscriptions that exist, in whatever guild. */
export const subscriptionsTo = (
  sql: Statements,
  wanted: readonly { address: AddressText; channelId: string }[],
): Promise<Row[]> =>
  sql.all<Row>(
    `${SELECT} WHERE (address, channel_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
    wanted.map(({ address }) => address),
    wanted.map(({ channelId }) => channelId),
  );

/** How many subscriptions a guild has, and in how many of its channels it watches an address. */
export async function countsOf(
  sql: Statements,
  guildId: string,
  address: AddressText,
): Promise<{ subscriptions: number; channels: number }> {
  const counts = await sql.get<{ subscriptions: number; channels: number }>(
    `SELECT count(*) AS subscriptions, count(*) FILTER (WHERE address = $2) AS channels
     FROM subscriptions WHERE guild_id = $1`,
    guildId,
    address,
  );
  return counts!;
}

/** In how many of its channels a guild watches each address. */
export async function channelsOf(sql: Statements, guildId: string): Promise<Map<AddressText, number>> {
  const found = await sql.all<{ address: AddressText; channels: number }>(
    'SELECT address, count(*) AS channels FROM subscriptions WHERE guild_id = $1 GROUP BY address',
    guildId,
  );
  return new Map(found.map(({ address, channels }) => [address, channels]));
}

/** Rows as JSON, by their columns' names. */
const toJson = (rows: readonly object[]): string =>
  JSON.stringify(
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([key, value]) => [COLUMNS[key as keyof Subscription], inColumn(value)]),
      ),
    ),
  );

const inColumn = (value: unknown): unknown => (typeof value === 'object' && value ? JSON.stringify(value) : value);

/** Adds subscriptions; returns their ids. */
export async function insertAll(sql: Statements, added: readonly AddedSubscription[]): Promise<number[]> {
  if (added.length === 0) return [];
  const ids = await sql.all<{ id: number }>(
    `INSERT INTO subscriptions (${columnsOf(ADDED_KEYS)}) SELECT ${columnsOf(ADDED_KEYS)}
     FROM json_populate_recordset(NULL::subscriptions, $1::json) RETURNING id`,
    toJson(added.map(storedAddition)),
  );
  return ids.map(({ id }) => id);
}

/** Changes subscriptions as stored in `before`. */
export async function changeAll(
  sql: Statements,
  changes: readonly { before: Row; change: SubscriptionChange }[],
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(({ before, change }) => ({
    id: before.id,
    ...Object.fromEntries(CHANGEABLE.map((key) => [key, before[key]])),
    ...storedChange(before, change),
  }));
  await sql.run(
    `UPDATE subscriptions SET (${columnsOf(CHANGEABLE)}) = (${columnsOf(CHANGEABLE, 'n.')})
     FROM json_populate_recordset(NULL::subscriptions, $1::json) n WHERE subscriptions.id = n.id`,
    toJson(rows),
  );
}
