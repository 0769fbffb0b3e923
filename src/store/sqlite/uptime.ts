import type { Database } from 'better-sqlite3';
import type { Pause } from '../../domain/uptime.ts';
import { META_KEYS as KEYS } from '../sql/rows.ts';
import { unsynced } from './database.ts';

/** When the bot worked, and how far it has deleted old data. */
export function uptimeReader(db: Database) {
  const get = db.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?');
  // Of each table, only the newest row is read.
  const newest = db.prepare<[], { at: number | null }>(
    `SELECT max(at) AS at FROM (
         SELECT CAST(value AS INTEGER) AS at FROM meta WHERE key = '${KEYS.worked}'
         UNION ALL SELECT * FROM (SELECT received_at FROM inbox ORDER BY id DESC LIMIT 1)
         UNION ALL SELECT * FROM (SELECT seen_at FROM transfers ORDER BY id DESC LIMIT 1)
         UNION ALL SELECT * FROM (SELECT frozen_at FROM batches ORDER BY id DESC LIMIT 1))`,
  );
  const oldest = db.prepare<[], { at: number | null }>(
    `WITH RECURSIVE scopes (scope) AS (
         SELECT min(scope) FROM transfers
         UNION ALL SELECT (SELECT min(scope) FROM transfers WHERE scope > scopes.scope) FROM scopes
         WHERE scope IS NOT NULL)
       SELECT min(at) AS at FROM (
         SELECT (SELECT min(seen_at) FROM transfers t WHERE t.scope = scopes.scope) AS at FROM scopes
         UNION ALL SELECT min(frozen_at) FROM batches)`,
  );
  const numberAt = (key: string) => {
    const row = get.get(key);
    return row === undefined ? null : Number(row.value);
  };
  return {
    uptime: {
      read: () => ({
        latest: newest.get()!.at,
        pauses: JSON.parse(get.get(KEYS.pauses)?.value ?? '[]') as Pause[],
      }),
      lastIdentify: (): number | null => numberAt(KEYS.identified),
    },
    /** How far deletion of old data has come, or where it will begin. Null when nothing is stored. */
    prunedBefore: (): number | null => numberAt(KEYS.pruned) ?? oldest.get()!.at,
  };
}

/** Records when the bot worked, and how far it has deleted old data, as single values. */
export function uptimeWriter(db: Database) {
  const put = db.prepare<[string, string]>('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)');
  const record = db.transaction((now: number, pauses: readonly Pause[]) => {
    put.run(KEYS.worked, String(now));
    put.run(KEYS.pauses, JSON.stringify(pauses));
  });
  return {
    uptime: {
      record: (now: number, pauses: readonly Pause[]): void => unsynced(db, () => record.immediate(now, pauses)),
      recordIdentify: (at: number): void => unsynced(db, () => void put.run(KEYS.identified, String(at))),
    },
    setPrunedBefore: (time: number): void => unsynced(db, () => void put.run(KEYS.pruned, String(time))),
  };
}
