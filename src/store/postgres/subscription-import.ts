import type { ImportLimits, SubscriptionImport } from '../../domain/subscription.ts';
import {
  type ImportRefusal,
  importedSubscription,
  importRefusal,
  namesIn,
  subscriptionKey,
} from '../../domain/subscription-limits.ts';
import type { Statements } from './connection.ts';
import { bookOf, putLabels, removeLabels } from './labels.ts';
import { changeAll, channelsOf, insertAll, subscriptionsTo } from './subscription-rows.ts';

/** Adds and changes the subscriptions and names of a file, all or nothing, within one transaction. */
export async function importAll(
  sql: Statements,
  file: SubscriptionImport,
  limits: ImportLimits,
): Promise<'imported' | ImportRefusal> {
  const { guildId, userId, added, changed, at } = file;
  const existing = await subscriptionsTo(sql, [...added, ...changed]);
  const facts = { existing, channels: await channelsOf(sql, guildId), book: await bookOf(sql, guildId) };
  const refusal = importRefusal(file, facts, limits);
  if (refusal) return refusal;
  await insertAll(
    sql,
    added.map((row) => importedSubscription(file, row)),
  );
  const rows = new Map(existing.map((row) => [subscriptionKey(row), row]));
  await changeAll(
    sql,
    changed.map(({ change, ...place }) => ({ before: rows.get(subscriptionKey(place))!, change })),
  );
  const names = namesIn(file);
  // Two addresses may swap their names.
  await removeLabels(sql, guildId, [...names.keys()]);
  const given = [...names].flatMap(([address, name]) =>
    name === null ? [] : { address, name, createdBy: userId, at },
  );
  await putLabels(sql, guildId, given);
  return 'imported';
}
