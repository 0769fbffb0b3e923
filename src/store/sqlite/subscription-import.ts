import type { Database } from 'better-sqlite3';
import type { ImportLimits, SubscriptionImport } from '../../domain/subscription.ts';
import { type ImportRefusal, importedSubscription, importRefusal, namesIn } from '../../domain/subscription-limits.ts';
import type { NameBook } from './labels.ts';
import type { SubscriptionRows } from './subscription-rows.ts';

/** Adds and changes the subscriptions and names of a file, all or nothing. */
export function importer(db: Database, rows: SubscriptionRows, labels: NameBook) {
  const importAll = db.transaction((file: SubscriptionImport, limits: ImportLimits): 'imported' | ImportRefusal => {
    const { guildId, userId, added, changed, at } = file;
    const existing = [...added, ...changed].flatMap(({ address, channelId }) => rows.at(address, channelId) ?? []);
    const facts = { existing, channels: rows.channels(guildId), book: labels.list(guildId) };
    const refusal = importRefusal(file, facts, limits);
    if (refusal) return refusal;
    for (const row of added) rows.insert(importedSubscription(file, row));
    for (const { address, channelId, change } of changed) rows.change(rows.at(address, channelId)!, change);
    const names = namesIn(file);
    // Two addresses may swap their names.
    for (const address of names.keys()) labels.remove(guildId, address);
    for (const [address, name] of names)
      if (name !== null) labels.put(guildId, { address, name, createdBy: userId, at });
    return 'imported';
  });
  return (file: SubscriptionImport, limits: ImportLimits) => importAll.immediate(file, limits);
}
