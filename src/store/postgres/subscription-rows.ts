import type { AddressText } from '../../domain/address.ts';
import {
  DEFAULT_CHOICES,
  DEFAULT_FILTERS,
  type NewSubscription,
  type Subscription,
  type SubscriptionChange,
} from '../../domain/subscription.ts';
import {
  SUBSCRIPTION_COLUMNS as COLUMNS,
  type SubscriptionRow as Row,
  SELECT_SUBSCRIPTIONS as SELECT,
  toFilters,
} from '../sql/rows.ts';
import type { Statements } from './connection.ts';

/** What adding, changing and importing subscriptions share; all of it is part of the caller's transaction. */

/** What somebody chose, without the label, which is in the guild's name book. */
const CHOSEN = Object.keys(DEFAULT_CHOICES).filter((key) => key !== 'label') as (keyof Subscription)[];
const CHANGEABLE = [...CHOSEN, 'channelId', 'paused', 'mutedUntil'] as const satisfies (keyof Subscription)[];
const INSERTED = [
  ...CHANGEABLE,
  'guildId',
  'address',
  'createdBy',
  'createdAt',
] as const satisfies (keyof Subscription)[];

const columnsOf = (keys: readonly (keyof Subscription)[]): string => keys.map((key) => COLUMNS[key]).join(', ');

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

/** How many a guild has. */
export const countOf = async (sql: Statements, guildId: string): Promise<number> =>
  (await sql.get<{ n: number }>('SELECT count(*) AS n FROM subscriptions WHERE guild_id = $1', guildId))!.n;

/** In how many channels a guild watches each of these addresses. */
export async function channelsOf(
  sql: Statements,
  guildId: string,
  addresses: readonly AddressText[],
): Promise<Map<AddressText, number>> {
  const found = await sql.all<{ address: AddressText; n: number }>(
    `SELECT address, count(*) AS n FROM subscriptions WHERE guild_id = $1 AND address = ANY($2::text[]) GROUP BY address`,
    guildId,
    addresses,
  );
  return new Map(found.map(({ address, n }) => [address, n]));
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
export async function insertAll(
  sql: Statements,
  added: readonly (NewSubscription & Partial<Pick<Subscription, 'paused' | 'mutedUntil'>>)[],
): Promise<number[]> {
  const { label: _, ...defaults } = { ...DEFAULT_CHOICES, paused: false, mutedUntil: null };
  const rows = added.map(({ label: __, ...subscription }) => ({ ...defaults, ...subscription }));
  const ids = await sql.all<{ id: number }>(
    `INSERT INTO subscriptions (${columnsOf(INSERTED)}) SELECT ${columnsOf(INSERTED)}
     FROM json_populate_recordset(NULL::subscriptions, $1::json) RETURNING id`,
    toJson(rows),
  );
  return ids.map(({ id }) => id);
}

/** Changes subscriptions as stored in `before`; only the named filters change. */
export async function changeAll(
  sql: Statements,
  changes: readonly { before: Row; change: SubscriptionChange }[],
): Promise<void> {
  const rows = changes.map(({ before, change: { filters, ...rest } }) => {
    const stored = Object.fromEntries(CHANGEABLE.map((key) => [key, before[key as keyof Row]]));
    const now = toFilters(before.filters);
    return { ...stored, ...rest, id: before.id, filters: filters ? { ...now, ...filters } : now };
  });
  await sql.run(
    `UPDATE subscriptions SET (${columnsOf(CHANGEABLE)}) = (${CHANGEABLE.map((key) => `n.${COLUMNS[key]}`).join(', ')})
     FROM json_populate_recordset(NULL::subscriptions, $1::json) n WHERE subscriptions.id = n.id`,
    toJson(rows.map(({ label: _, ...row }: Record<string, unknown>) => row)),
  );
}

/** All filters of a subscription that names some. */
export const withDefaults = (filters: Partial<Subscription['filters']> | undefined): Subscription['filters'] => ({
  ...DEFAULT_FILTERS,
  ...filters,
});
