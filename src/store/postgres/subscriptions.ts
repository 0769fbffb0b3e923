import type { LabelRefusal } from '../../domain/guild.ts';
import type { NewSubscription, Subscription, SubscriptionChange } from '../../domain/subscription.ts';
import { type SubscriptionRow as Row, SELECT_SUBSCRIPTIONS as SELECT, toSubscription } from '../sql/rows.ts';
import type { Connection, Statements } from './connection.ts';
import { nameLabel, unname } from './labels.ts';
import { importer } from './subscription-import.ts';
import { changeAll, channelsOf, countOf, insertAll, subscriptionOf, subscriptionTo } from './subscription-rows.ts';
import { tokenMuteTable } from './token-mutes.ts';

/** The user who names an address, and the time. */
interface Author {
  userId: string;
  at: number;
}

/** Subscriptions; every method but `watching` stays within one guild. */
export function subscriptionsTable(db: Connection) {
  return {
    add: (subscription: NewSubscription, limit: number, channelsPerAddress = Number.POSITIVE_INFINITY) =>
      db.write((sql) => add(sql, subscription, limit, channelsPerAddress)),

    list: async (guildId: string): Promise<Subscription[]> =>
      (await db.reads.all<Row>(`${SELECT} WHERE guild_id = $1 ORDER BY channel_id, id`, guildId)).map(toSubscription),

    async get(guildId: string, id: number): Promise<Subscription | null> {
      const row = await subscriptionOf(db.reads, guildId, id);
      return row ? toSubscription(row) : null;
    },

    change: (guildId: string, id: number, changed: SubscriptionChange, by?: Author) =>
      db.write((sql) => change(sql, guildId, id, changed, by)),

    importAll: importer(db),

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

async function add(sql: Statements, subscription: NewSubscription, limit: number, channelsPerAddress: number) {
  const { guildId, channelId, address, createdBy, createdAt: at, label = null } = subscription;
  const existing = await subscriptionTo(sql, address, channelId);
  if (existing) return { status: 'exists' as const, subscription: toSubscription(existing) };
  if ((await countOf(sql, guildId)) >= limit) return { status: 'full' as const };
  const channels = await channelsOf(sql, guildId, [address]);
  if ((channels.get(address) ?? 0) >= channelsPerAddress) return { status: 'crowded' as const };
  const named = label === null ? null : await nameLabel(sql, guildId, { address, name: label, createdBy, at });
  if (named && named.status !== 'set') return named;
  const [id] = await insertAll(sql, [subscription]);
  const stored = await subscriptionOf(sql, guildId, id!);
  return { status: 'added' as const, subscription: toSubscription(stored!), before: named?.before ?? null };
}

async function change(
  sql: Statements,
  guildId: string,
  id: number,
  changed: SubscriptionChange,
  by: Author | undefined,
) {
  const before = await subscriptionOf(sql, guildId, id);
  if (!before) return { status: 'missing' as const };
  const { channelId } = changed;
  const existing = channelId === undefined ? undefined : await subscriptionTo(sql, before.address, channelId);
  if (existing && existing.id !== id) return { status: 'exists' as const, subscription: toSubscription(existing) };
  const author = by ?? { userId: before.createdBy, at: before.createdAt };
  const refusal = await rename(sql, before, changed.label, author);
  if (refusal) return refusal;
  await changeAll(sql, [{ before, change: changed }]);
  const stored = await subscriptionOf(sql, guildId, id);
  return { status: 'changed' as const, subscription: toSubscription(stored!) };
}

async function rename(
  sql: Statements,
  { guildId, address }: Row,
  name: string | null | undefined,
  { userId, at }: Author,
): Promise<LabelRefusal | null> {
  if (name === undefined) return null;
  if (name === null) {
    await unname(sql, guildId, address);
    return null;
  }
  const outcome = await nameLabel(sql, guildId, { address, name, createdBy: userId, at });
  return outcome.status === 'set' ? null : outcome;
}
