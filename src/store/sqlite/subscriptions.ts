import type { Database } from 'better-sqlite3';
import type { AddressText } from '../../domain/address.ts';
import { type LabelAuthor, nameIn } from '../../domain/guild.ts';
import type { NewSubscription, Subscription, SubscriptionChange, Watcher } from '../../domain/subscription.ts';
import { additionRefusal, changeRefusal } from '../../domain/subscription-limits.ts';
import {
  type SubscriptionRow as Row,
  SELECT_SUBSCRIPTIONS as SELECT,
  toSubscription,
  WATCHER_COLUMNS,
  type WatcherRow,
  watcherParser,
} from '../sql/subscription-rows.ts';
import { nameBook } from './labels.ts';
import { importer } from './subscription-import.ts';
import { subscriptionRows } from './subscription-rows.ts';
import { tokenMuteTable } from './token-mutes.ts';

/** Looks up who watches an address, in every guild, for one commit. */
export function watcherLookUp(db: Database): () => (address: AddressText) => Watcher[] {
  const byAddress = db.prepare<[string], WatcherRow>(`SELECT ${WATCHER_COLUMNS} FROM subscriptions WHERE address = ?`);
  return () => {
    const toWatcher = watcherParser();
    return (address) => byAddress.all(address).map(toWatcher);
  };
}

/** Subscriptions; every method but `watching` stays within one guild. */
export function subscriptionsTable(db: Database) {
  const labels = nameBook(db);
  const rows = subscriptionRows(db);
  const ofGuild = db.prepare<[string], Row>(`${SELECT} WHERE guild_id = ? ORDER BY channel_id, id`);
  const byAddress = db.prepare<[string], Row>(`${SELECT} WHERE address = ?`);
  const mute = db.prepare<[number | null, string, string]>(
    'UPDATE subscriptions SET muted_until = ? WHERE guild_id = ? AND id IN (SELECT value FROM json_each(?))',
  );
  const remove = db.prepare<[string, number]>('DELETE FROM subscriptions WHERE guild_id = ? AND id = ?');

  const toFound = (row: Row | undefined): Subscription | null => (row ? toSubscription(row) : null);
  const get = (guildId: string, id: number) => toFound(rows.one(guildId, id));

  const add = db.transaction((subscription: NewSubscription, limit: number, channelsPerAddress: number) => {
    const { guildId, channelId, address, createdBy, createdAt, label = null } = subscription;
    const book = label === null ? [] : labels.list(guildId);
    const facts = { existing: toFound(rows.at(address, channelId)), ...rows.counts(guildId, address), book };
    const refusal = additionRefusal(subscription, facts, { subscriptions: limit, channelsPerAddress });
    if (refusal) return refusal;
    if (label !== null) labels.put(guildId, { address, name: label, createdBy, at: createdAt });
    const id = rows.insert(subscription);
    return { status: 'added' as const, subscription: get(guildId, id)!, before: nameIn(book, address) };
  });

  const change = db.transaction((guildId: string, id: number, changed: SubscriptionChange, by?: LabelAuthor) => {
    const before = rows.one(guildId, id);
    if (!before) return { status: 'missing' as const };
    const { address } = before;
    const { channelId, label } = changed;
    const facts = {
      existing: channelId === undefined ? null : toFound(rows.at(address, channelId)),
      book: typeof label === 'string' ? labels.list(guildId) : [],
    };
    const refusal = changeRefusal(before, changed, facts);
    if (refusal) return refusal;
    const { userId: createdBy, at } = by ?? { userId: before.createdBy, at: before.createdAt };
    if (label === null) labels.remove(guildId, address);
    else if (label !== undefined) labels.put(guildId, { address, name: label, createdBy, at });
    rows.change(before, changed);
    return { status: 'changed' as const, subscription: get(guildId, id)! };
  });

  return {
    add: (subscription: NewSubscription, limit: number, channelsPerAddress = Number.POSITIVE_INFINITY) =>
      add.immediate(subscription, limit, channelsPerAddress),

    list: (guildId: string): Subscription[] => ofGuild.all(guildId).map(toSubscription),

    get,

    change: (guildId: string, id: number, changed: SubscriptionChange, by?: LabelAuthor) =>
      change.immediate(guildId, id, changed, by),

    importAll: importer(db, rows, labels),

    mute: (guildId: string, ids: readonly number[], until: number | null): number =>
      mute.run(until, guildId, JSON.stringify(ids)).changes,

    ...tokenMuteTable(db),

    remove: (guildId: string, id: number): boolean => remove.run(guildId, id).changes === 1,

    watching: (addresses: string[]): Subscription[] =>
      addresses.flatMap((address) => byAddress.all(address)).map(toSubscription),
  };
}
