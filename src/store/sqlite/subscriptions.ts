import type { Database } from 'better-sqlite3';
import type { AddressText } from '../../domain/address.ts';
import type { LabelRefusal } from '../../domain/guild.ts';
import type { Filters, NewSubscription, Subscription, SubscriptionChange, Watcher } from '../../domain/subscription.ts';
import {
  type SubscriptionRow as Row,
  SELECT_SUBSCRIPTIONS as SELECT,
  selected,
  toFilters,
  toSubscription,
} from '../sql/rows.ts';
import { nameBook } from './labels.ts';
import { importTable } from './subscription-import.ts';
import { type Author, subscriptionRows } from './subscription-rows.ts';
import { tokenMuteTable } from './token-mutes.ts';

/**
 * Looks up who watches an address, in every guild, for one commit. Equal filters share one object, because parsing them
 * and posting them to another thread is slow.
 */
export function watcherLookUp(db: Database): () => (address: AddressText) => Watcher[] {
  const keys: (keyof Watcher)[] = ['id', 'guildId', 'channelId', 'address', 'direction', 'kind', 'minimum', 'token'];
  keys.push('paused', 'mutedUntil', 'filters', 'digest', 'quiet');
  const byAddress = db.prepare<[string], Omit<Watcher, 'paused' | 'filters'> & Pick<Row, 'paused' | 'filters'>>(
    `SELECT ${selected(keys)} FROM subscriptions WHERE address = ?`,
  );
  return () => {
    const known = new Map<string, Filters>();
    const filtersOf = (text: string): Filters => {
      const filters = known.get(text) ?? toFilters(text);
      known.set(text, filters);
      return filters;
    };
    return (address) =>
      byAddress.all(address).map((row) => ({ ...row, paused: Boolean(row.paused), filters: filtersOf(row.filters) }));
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

  const add = db.transaction((subscription: NewSubscription, limit: number, channelsPerAddress: number) => {
    const existing = rows.same(subscription.address, subscription.channelId);
    if (existing) return { status: 'exists' as const, subscription: toSubscription(existing) };
    if (rows.count(subscription.guildId) >= limit) return { status: 'full' as const };
    if (rows.channelsOf(subscription.address, subscription.guildId) >= channelsPerAddress)
      return { status: 'crowded' as const };
    const { guildId, address, createdBy, createdAt: at, label = null } = subscription;
    const named = label === null ? null : labels.name(guildId, { address, name: label, createdBy, at });
    if (named && named.status !== 'set') return named;
    const id = rows.insertOne(subscription);
    return {
      status: 'added' as const,
      subscription: toSubscription(rows.one(guildId, id)!),
      before: named?.before ?? null,
    };
  });

  function rename(
    { guildId, address }: Row,
    name: string | null | undefined,
    { userId, at }: Author,
  ): LabelRefusal | null {
    if (name === null) labels.remove(guildId, address);
    if (name === null || name === undefined) return null;
    const outcome = labels.name(guildId, { address, name, createdBy: userId, at });
    return outcome.status === 'set' ? null : outcome;
  }
  const change = db.transaction((guildId: string, id: number, changed: SubscriptionChange, by: Author | undefined) => {
    const before = rows.one(guildId, id);
    if (!before) return { status: 'missing' as const };
    const { channelId } = changed;
    const existing = channelId === undefined ? undefined : rows.same(before.address, channelId);
    if (existing && existing.id !== id) return { status: 'exists' as const, subscription: toSubscription(existing) };
    const refusal = rename(before, changed.label, by ?? { userId: before.createdBy, at: before.createdAt });
    if (refusal) return refusal;
    rows.changeOne(before, changed);
    return { status: 'changed' as const, subscription: toSubscription(rows.one(guildId, id)!) };
  });

  return {
    add: (subscription: NewSubscription, limit: number, channelsPerAddress = Number.POSITIVE_INFINITY) =>
      add.immediate(subscription, limit, channelsPerAddress),

    list: (guildId: string): Subscription[] => ofGuild.all(guildId).map(toSubscription),

    get(guildId: string, id: number): Subscription | null {
      const row = rows.one(guildId, id);
      return row ? toSubscription(row) : null;
    },

    change: (guildId: string, id: number, changed: SubscriptionChange, by?: Author) =>
      change.immediate(guildId, id, changed, by),

    importAll: importTable(db, rows, labels),

    mute: (guildId: string, ids: readonly number[], until: number | null): number =>
      mute.run(until, guildId, JSON.stringify(ids)).changes,

    ...tokenMuteTable(db),

    remove: (guildId: string, id: number): boolean => remove.run(guildId, id).changes === 1,

    watching: (addresses: string[]): Subscription[] =>
      addresses.flatMap((address) => byAddress.all(address)).map(toSubscription),
  };
}
