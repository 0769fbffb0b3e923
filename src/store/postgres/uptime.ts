import type { Pause } from '../../domain/uptime.ts';
import { META_KEYS as KEYS } from '../sql/rows.ts';
import type { Connection, Statements } from './connection.ts';
import { IDS_PER_DAY } from './partitions.ts';

/** When the bot worked, and how far it has deleted old data, as single values. */
export function uptimeTable(db: Connection) {
  return {
    uptime: {
      read: () =>
        db.read(async (sql) => {
          const newest = await sql.get<{ at: number | null }>(
            `SELECT max(at) AS at FROM (
               (SELECT value::bigint AS at FROM meta WHERE key = '${KEYS.worked}')
               UNION ALL (SELECT received_at FROM inbox ORDER BY id DESC LIMIT 1)
               UNION ALL (SELECT seen_at FROM transfers ORDER BY id DESC LIMIT 1)
               UNION ALL (SELECT frozen_at FROM batches ORDER BY id DESC LIMIT 1)) AS latest`,
          );
          return { latest: newest!.at, pauses: JSON.parse((await valueAt(sql, KEYS.pauses)) ?? '[]') as Pause[] };
        }),
      record: (now: number, pauses: readonly Pause[]) =>
        db.writeUnsynced(async (sql) => {
          await put(sql, KEYS.worked, String(now));
          await put(sql, KEYS.pauses, JSON.stringify(pauses));
        }),
      lastIdentify: () => numberAt(db.reads, KEYS.identified),
      recordIdentify: (at: number) => db.writeUnsynced((sql) => put(sql, KEYS.identified, String(at))),
    },

    /** How far deletion of old data has come, or where it will begin. Null when nothing is stored. */
    prunedBefore: () =>
      db.read(async (sql) => {
        const known = await numberAt(sql, KEYS.pruned);
        if (known !== null) return known;
        const oldest = await sql.get<{ at: number | null }>(
          // Of transfers, only the first day is read.
          `SELECT least((SELECT min(frozen_at) FROM batches), (SELECT min(seen_at) FROM transfers
             WHERE id < (SELECT min(id) / ${IDS_PER_DAY} + 1 FROM transfers) * ${IDS_PER_DAY})) AS at`,
        );
        return oldest!.at;
      }),

    setPrunedBefore: (time: number) => db.writeUnsynced((sql) => put(sql, KEYS.pruned, String(time))),
  };
}

async function valueAt(sql: Statements, key: string): Promise<string | null> {
  const row = await sql.get<{ value: string }>('SELECT value FROM meta WHERE key = $1', key);
  return row?.value ?? null;
}

async function numberAt(sql: Statements, key: string): Promise<number | null> {
  const value = await valueAt(sql, key);
  return value === null ? null : Number(value);
}

async function put(sql: Statements, key: string, value: string): Promise<void> {
  await sql.run(
    'INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    key,
    value,
  );
}
