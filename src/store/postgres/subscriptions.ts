import { type LabelAuthor, nameIn } from '../../domain/guild.ts';
import type {
  ImportLimits,
  NewSubscription,
  Subscription,
  SubscriptionChange,
  SubscriptionImport,
} from '../../domain/subscription.ts';
import { additionRefusal, changeRefusal } from '../../domain/subscription-limits.ts';
import {
  type SubscriptionRow as Row,
  SELECT_SUBSCRIPTIONS as SELECT,
  toSubscription,
} from '../sql/subscription-rows.ts';
import type { Connection, Statements } from './connection.ts';
import { bookOf, putLabels, removeLabels } from './labels.ts';
import { importAll } from './subscription-import.ts';
import { changeAll, countsOf, insertAll, subscriptionOf, subscriptionTo } from './subscription-rows.ts';
import { tokenMuteTable } from './token-mutes.ts';

/** Subscriptions; every method but `watching` stays within one guild. */
export function subscriptionsTable(db: Connection) {
  return {
    add: (subscription: NewSubscription, limit: number, channelsPerAddress = Number.POSITIVE_INFINITY) =>
      db.write((sql) => add(sql, subscription, limit, channelsPerAddress)),

    list: async (guildId: string): Promise<Subscription[]> =>
      (await db.reads.all<Row>(`${SELECT} WHERE guild_id = $1 ORDER BY channel_id, id`, guildId)).map(toSubscription),

    get: async (guildId: string, id: number): Promise<Subscription | null> =>
      toFound(await subscriptionOf(db.reads, guildId, id)),

    change: (guildId: string, id: number, changed: SubscriptionChange, by?: LabelAuthor) =>
      db.write((sql) => change(sql, guildId, id, changed, by)),

    importAll: (file: SubscriptionImport, limits: ImportLimits) => db.write((sql) => importAll(sql, file, limits)),

    mute: (guildId: string, ids: readonly number[], until: number | null) =>
      db.write((sql) =>
        sql.run(
          'UPDATE subscriptions SET muted_until = $1 WHERE guild_id = $2 AND id = ANY($3::bigint[])',
          until,
          guildId,
          ids,
        ),
      ),

    ...tokenMuteTable(db),

    remove: (guildId: string, id: number) =>
      db.write(
        async (sql) => (await sql.run('DELETE FROM subscriptions WHERE guild_id = $1 AND id = $2', guildId, id)) === 1,
      ),

    watching: async (addresses: string[]): Promise<Subscription[]> =>
      (
        await db.reads.all<Row>(
          `${SELECT} WHERE address = ANY($1::text[]) ORDER BY array_position($1::text[], address), channel_id`,
          addresses,
        )
      ).map(toSubscription),
  };
}

const toFound = (row: Row | undefined): Subscription | null => (row ? toSubscription(row) : null);

async function add(sql: Statements, subscription: NewSubscription, limit: number, channelsPerAddress: number) {
  const { guildId, channelId, address, createdBy, createdAt: at, label = null } = subscription;
  const existing = toFound(await subscriptionTo(sql, address, channelId));
  const counts = await countsOf(sql, guildId, address);
  const book = label === null ? [] : await bookOf(sql, guildId);
  const limits = { subscriptions: limit, channelsPerAddress };
  const refusal = additionRefusal(subscription, { existing, ...counts, book }, limits);
  if (refusal) return refusal;
  if (label !== null) await putLabels(sql, guildId, [{ address, name: label, createdBy, at }]);
  const [id] = await insertAll(sql, [subscription]);
  const stored = await subscriptionOf(sql, guildId, id!);
  return { status: 'added' as const, subscription: toSubscription(stored!), before: nameIn(book, address) };
}

async function change(sql: Statements, guildId: string, id: number, changed: SubscriptionChange, by?: LabelAuthor) {
  const before = await subscriptionOf(sql, guildId, id);
  if (!before) return { status: 'missing' as const };
  const { address } = before;
  const { channelId, label } = changed;
  const existing = channelId === undefined ? null : toFound(await subscriptionTo(sql, address, channelId));
  const book = typeof label === 'string' ? await bookOf(sql, guildId) : [];
  const refusal = changeRefusal(before, changed, { existing, book });
  if (refusal) return refusal;
  const { userId: createdBy, at } = by ?? { userId: before.createdBy, at: before.createdAt };
  if (label === null) await removeLabels(sql, guildId, [address]);
  else if (label !== undefined) await putLabels(sql, guildId, [{ address, name: label, createdBy, at }]);
  await changeAll(sql, [{ before, change: changed }]);
  const stored = await subscriptionOf(sql, guildId, id);
  return { status: 'changed' as const, subscription: toSubscription(stored!) };
}
