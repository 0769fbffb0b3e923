import type { Database, Statement } from 'better-sqlite3';
import type { AddressText } from '../../domain/address.ts';
import type { NewSubscription, SubscriptionChange } from '../../domain/subscription.ts';
import { DEFAULT_CHOICES, type Subscription } from '../../domain/subscription.ts';
import {
  type SubscriptionRow as Row,
  SELECT_SUBSCRIPTIONS as SELECT,
  SUBSCRIPTION_COLUMNS,
  toFilters,
} from '../sql/rows.ts';

/** A value that SQLite accepts. */
const toColumn = (value: Subscription[keyof Subscription]): string | number | null =>
  typeof value === 'boolean' ? Number(value) : typeof value === 'object' && value ? JSON.stringify(value) : value;

/** The user who names an address, and the time. */
export interface Author {
  userId: string;
  at: number;
}

/** What adding, changing and importing subscriptions share; none of it is a transaction of its own. */
export type SubscriptionRows = ReturnType<typeof subscriptionRows>;

/** Statements about single subscriptions, each part of the caller's transaction. */
export function subscriptionRows(db: Database) {
  const one = db.prepare<[string, number], Row>(`${SELECT} WHERE guild_id = ? AND id = ?`);
  const same = db.prepare<[string, string], Row>(`${SELECT} WHERE address = ? AND channel_id = ?`);
  const count = db.prepare<[string], { n: number }>('SELECT count(*) AS n FROM subscriptions WHERE guild_id = ?');
  const watching = db
    .prepare<[string, string], number>('SELECT count(*) FROM subscriptions WHERE address = ? AND guild_id = ?')
    .pluck();
  const { label: _, ...stored } = DEFAULT_CHOICES;
  const given = ['guildId', 'channelId', 'address', 'createdBy', 'createdAt', ...Object.keys(stored)] as const;
  const insert = db.prepare(
    `INSERT INTO subscriptions (${given.map((key) => SUBSCRIPTION_COLUMNS[key as keyof Subscription]).join(', ')})
     VALUES (${given.map((key) => `@${key}`).join(', ')})`,
  );

  const insertOne = ({ label: _, ...subscription }: NewSubscription): number => {
    const values = Object.entries({ ...stored, ...subscription });
    return Number(insert.run(Object.fromEntries(values.map(([key, value]) => [key, toColumn(value)]))).lastInsertRowid);
  };

  /** Statements by their SQL: a file changes a thousand subscriptions, most of them alike. */
  const updates = new Map<string, Statement>();
  function update(id: number, changed: Partial<Subscription>): void {
    const keys = Object.keys(changed) as (keyof SubscriptionChange)[];
    if (keys.length === 0) return;
    const values = keys.map((key) => toColumn(changed[key]!));
    const sql = `UPDATE subscriptions SET ${keys.map((key) => `${SUBSCRIPTION_COLUMNS[key]} = ?`).join(', ')} WHERE id = ?`;
    const statement = updates.get(sql) ?? db.prepare(sql);
    updates.set(sql, statement);
    statement.run(...values, id);
  }

  function changeOne({ id, filters: before }: Row, changed: SubscriptionChange): void {
    const { filters, label: _, ...rest } = changed;
    update(id, filters ? { ...rest, filters: { ...toFilters(before), ...filters } } : rest);
  }

  return {
    one: (guildId: string, id: number): Row | undefined => one.get(guildId, id),
    /** The subscription to an address in a channel. */
    same: (address: AddressText, channelId: string): Row | undefined => same.get(address, channelId),
    /** How many a guild has. */
    count: (guildId: string): number => count.get(guildId)?.n ?? 0,
    /** In how many channels a guild watches an address. */
    channelsOf: (address: AddressText, guildId: string): number => watching.get(address, guildId)!,
    insertOne,
    update,
    changeOne,
  };
}
