import type { Pause } from '../../domain/clock.ts';
import { insertAll, type QueriesOf, read, type Sql, unsynced } from '../sql.ts';
import type { Uptime } from '../store.ts';

export const META_KEYS = {
  worked: 'worked-until',
  pauses: 'pauses',
  pruned: 'pruned-before',
  firstNetwork: 'first-network',
  /** These two stand before a network's number. */
  nativeSymbol: 'native-symbol-',
  checked: 'checked-',
  noticed: 'missed-noticed',
} as const;

export const valueAt = (sql: Sql, key: string): Promise<string | null> =>
  sql.value`SELECT value FROM meta WHERE key = ${key}`;

export async function putValue(sql: Sql, key: string, value: string): Promise<void> {
  await insertAll(sql, 'meta', [{ key, value }], { key: 'key' });
}

export const uptime: QueriesOf<Uptime> = {
  read: read(async (sql) => {
    const latest = await sql.value<number>`
      SELECT max(at) AS at FROM (
        SELECT CAST(value AS BIGINT) AS at FROM meta WHERE key = ${META_KEYS.worked}
        UNION ALL SELECT received_at FROM inbox WHERE id = (SELECT max(id) FROM inbox)
        UNION ALL SELECT seen_at FROM transfers WHERE id = (SELECT max(id) FROM transfers)
        UNION ALL SELECT frozen_at FROM batches WHERE id = (SELECT max(id) FROM batches)) AS latest`;
    return { latest, pauses: JSON.parse((await valueAt(sql, META_KEYS.pauses)) ?? '[]') as Pause[] };
  }),

  record: unsynced(async (sql, now, pauses) => {
    await putValue(sql, META_KEYS.worked, String(now));
    await putValue(sql, META_KEYS.pauses, JSON.stringify(pauses));
  }),
};
