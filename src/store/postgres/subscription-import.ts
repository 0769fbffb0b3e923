import type { ImportLimits, SubscriptionImport } from '../../domain/subscription.ts';
import { NotImported, namesIn } from '../sql/rows.ts';
import type { Connection, Statements } from './connection.ts';
import { countOf as countLabels } from './labels.ts';
import { changeAll, channelsOf, countOf, insertAll, subscriptionsTo, withDefaults } from './subscription-rows.ts';

type Outcome = 'imported' | 'full' | 'crowded' | 'stale';

/** Adds and changes the subscriptions and names of a file, all or nothing. */
export const importer =
  (db: Connection) =>
  async (file: SubscriptionImport, most: ImportLimits): Promise<Outcome> => {
    try {
      await db.write(async (sql) => {
        await addAll(sql, file, most);
        await changeNamed(sql, file);
        await nameAll(sql, file, most);
      });
      return 'imported';
    } catch (error) {
      if (error instanceof NotImported) return error.reason;
      throw error;
    }
  };

const placeOf = ({ address, channelId }: { address: string; channelId: string }): string => `${address} ${channelId}`;

async function addAll(sql: Statements, file: SubscriptionImport, most: ImportLimits): Promise<void> {
  const { guildId, userId, added, at } = file;
  if (added.length === 0) return;
  if ((await countOf(sql, guildId)) + added.length > most.subscriptions) throw new NotImported('full');
  const places = new Set(added.map(placeOf));
  if (places.size < added.length || (await subscriptionsTo(sql, added)).length > 0) throw new NotImported('stale');
  const limit = most.channelsPerAddress ?? Number.POSITIVE_INFINITY;
  const channels = await channelsOf(
    sql,
    guildId,
    added.map(({ address }) => address),
  );
  for (const [address, rows] of Map.groupBy(added, (row) => row.address))
    if ((channels.get(address) ?? 0) + rows.length > limit) throw new NotImported('crowded');
  await insertAll(
    sql,
    added.map(({ address, channelId, change: { filters, ...chosen } }) => ({
      guildId,
      channelId,
      address,
      createdBy: userId,
      createdAt: at,
      ...chosen,
      filters: withDefaults(filters),
    })),
  );
}

async function changeNamed(sql: Statements, { guildId, changed }: SubscriptionImport): Promise<void> {
  if (changed.length === 0) return;
  const existing = new Map((await subscriptionsTo(sql, changed)).map((row) => [placeOf(row), row]));
  const changes = changed.map(({ change, ...place }) => {
    const before = existing.get(placeOf(place));
    if (before?.guildId !== guildId) throw new NotImported('stale');
    return { before, change };
  });
  await changeAll(sql, changes);
}

async function nameAll(sql: Statements, file: SubscriptionImport, most: ImportLimits): Promise<void> {
  const { guildId, userId, at } = file;
  const names = namesIn(file);
  if (names.size === 0) return;
  // Two addresses may swap their names.
  await sql.run('DELETE FROM labels WHERE guild_id = $1 AND address = ANY($2::text[])', guildId, [...names.keys()]);
  const named = [...names].filter(([, name]) => name !== null);
  const added = await sql.run(
    `INSERT INTO labels (guild_id, address, name, created_by, at)
     SELECT $1, address, name, $2, $3::bigint FROM unnest($4::text[], $5::text[]) AS named (address, name)
     ON CONFLICT DO NOTHING`,
    guildId,
    userId,
    at,
    named.map(([address]) => address),
    named.map(([, name]) => name),
  );
  if (added < named.length) throw new NotImported('stale');
  if (named.length > 0 && (await countLabels(sql, guildId)) > most.labels) throw new NotImported('full');
}
