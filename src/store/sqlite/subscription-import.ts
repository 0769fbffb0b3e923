import type { Database } from 'better-sqlite3';
import type { ImportLimits, SubscriptionImport } from '../../domain/subscription.ts';
import { DEFAULT_FILTERS } from '../../domain/subscription.ts';
import { NotImported, namesIn } from '../sql/rows.ts';
import type { nameBook } from './labels.ts';
import type { SubscriptionRows } from './subscription-rows.ts';

/** Adds and changes the subscriptions and names of a file, all or nothing. */
export function importTable(db: Database, rows: SubscriptionRows, labels: ReturnType<typeof nameBook>) {
  const importAll = db.transaction((file: SubscriptionImport, most: ImportLimits): void => {
    const { guildId, userId, added, changed, at } = file;
    if (added.length > 0 && rows.count(guildId) + added.length > most.subscriptions) throw new NotImported('full');
    for (const { address, channelId, change: chosen } of added) {
      const { paused = false, mutedUntil = null, filters, ...choices } = chosen;
      const narrower = { filters: { ...DEFAULT_FILTERS, ...filters } };
      const wish = { guildId, channelId, address, createdBy: userId, createdAt: at, ...choices, ...narrower };
      if (rows.same(address, channelId)) throw new NotImported('stale');
      if (rows.channelsOf(address, guildId) >= (most.channelsPerAddress ?? Number.POSITIVE_INFINITY))
        throw new NotImported('crowded');
      const id = rows.insertOne(wish);
      if (paused || mutedUntil !== null) rows.update(id, { paused, mutedUntil });
    }
    for (const { address, channelId, change: chosen } of changed) {
      const existing = rows.same(address, channelId);
      if (existing?.guildId !== guildId) throw new NotImported('stale');
      rows.changeOne(existing, chosen);
    }
    const names = namesIn(file);
    // Two addresses may swap their names.
    for (const address of names.keys()) labels.remove(guildId, address);
    for (const [address, name] of names) {
      if (name === null) continue;
      const outcome = labels.name(guildId, { address, name, createdBy: userId, at }, most.labels);
      if (outcome.status === 'labels-full') throw new NotImported('full');
      if (outcome.status === 'label-taken') throw new NotImported('stale');
    }
  });

  return (file: SubscriptionImport, most: ImportLimits): 'imported' | 'full' | 'crowded' | 'stale' => {
    try {
      importAll.immediate(file, most);
      return 'imported';
    } catch (error) {
      if (error instanceof NotImported) return error.reason;
      throw error;
    }
  };
}
