import type { Database, Statement } from 'better-sqlite3';
import type { AddressText } from '../../domain/address.ts';
import type { Subscription, SubscriptionChange } from '../../domain/subscription.ts';
import {
  ADDED_KEYS,
  type AddedSubscription,
  type SubscriptionRow as Row,
  SELECT_SUBSCRIPTIONS as SELECT,
  SUBSCRIPTION_COLUMNS,
  storedAddition,
  storedChange,
} from '../sql/subscription-rows.ts';

/** A value that SQLite accepts. */
const toColumn = (value: Subscription[keyof Subscription]): string | number | null =>
  typeof value === 'boolean' ? Number(value) : typeof value === 'object' && value ? JSON.stringify(value) : value;

/** What adding, changing and importing subscriptions share; none of it is a transaction of its own. */
export type SubscriptionRows = ReturnType<typeof subscriptionRows>;

/** Statements about single subscriptions, each part of the caller's transaction. */
export function subscriptionRows(db: Database) {
  const one = db.prepare<[string, number], Row>(`${SELECT} WHERE guild_id = ? AND id = ?`);
  const at = db.prepare<[string, string], Row>(`${SELECT} WHERE address = ? AND channel_id = ?`);
  const counts = db.prepare<{ guildId: string; address: string }, { subscriptions: number; channels: number }>(
    `SELECT count(*) AS subscriptions, count(*) FILTER (WHERE address = @address) AS channels
     FROM subscriptions WHERE guild_id = @guildId`,
  );
  const channels = db.prepare<[string], { address: AddressText; channels: number }>(
    'SELECT address, count(*) AS channels FROM subscriptions WHERE guild_id = ? GROUP BY address',
  );
  const insert = db.prepare(
    `INSERT INTO subscriptions (${ADDED_KEYS.map((key) => SUBSCRIPTION_COLUMNS[key]).join(', ')})
     VALUES (${ADDED_KEYS.map((key) => `@${key}`).join(', ')})`,
  );

  /** Statements by their SQL: a file changes a thousand subscriptions, most of them alike. */
  const updates = new Map<string, Statement>();

  return {
    one: (guildId: string, id: number): Row | undefined => one.get(guildId, id),
    /** The subscription to an address in a channel, in whatever guild. */
    at: (address: AddressText, channelId: string): Row | undefined => at.get(address, channelId),
    /** How many a guild has, and in how many of its channels it watches an address. */
    counts: (guildId: string, address: AddressText) => counts.get({ guildId, address })!,
    /** In how many of its channels a guild watches each address. */
    channels: (guildId: string): Map<AddressText, number> =>
      new Map(channels.all(guildId).map((row) => [row.address, row.channels])),

    /** Returns the id. */
    insert(subscription: AddedSubscription): number {
      const values = Object.entries(storedAddition(subscription));
      return Number(
        insert.run(Object.fromEntries(values.map(([key, value]) => [key, toColumn(value)]))).lastInsertRowid,
      );
    },

    change(before: Row, change: SubscriptionChange): void {
      const changed = Object.entries(storedChange(before, change)) as [
        keyof Subscription,
        Subscription[keyof Subscription],
      ][];
      if (changed.length === 0) return;
      const columns = changed.map(([key]) => `${SUBSCRIPTION_COLUMNS[key]} = ?`).join(', ');
      const sql = `UPDATE subscriptions SET ${columns} WHERE id = ?`;
      const statement = updates.get(sql) ?? db.prepare(sql);
      updates.set(sql, statement);
      statement.run(...changed.map(([, value]) => toColumn(value)), before.id);
    },
  };
}
