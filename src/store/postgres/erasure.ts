import {
  ERASURE_START,
  type ErasedPart,
  type ErasurePosition,
  erasureAfter,
  positionOf,
  toCursor,
} from '../sql/cursors.ts';
import { ERASED_BY_GUILD, ERASED_BY_SCOPE } from '../sql/rows.ts';
import type { Cursor } from '../store.ts';
import type { Connection, Statements } from './connection.ts';

/** How many rows one step scans, or finds by an index and deletes, at most. */
const MAX_SCANNED = 10_000;
const MAX_DELETED = 500;

/** What was there when the erasure began: the project's scope (null: none), and each table's last row. */
interface Bounds {
  scope: number | null;
  alerts: number;
  batches: number;
  decisions: number;
  audit: number;
}

/** Part of a table whose rows are erased: returns where to go on in it, null when it is done. */
type Step = (sql: Statements, guildId: string, bounds: Bounds, after: number) => Promise<number | null>;

/**
 * Then tables that grow with every event. Transfers of the guild's own project are deleted with their deliveries. Rows
 * that a newly stored alert references stay.
 */
const STEPS: Record<ErasedPart, Step> = {
  alerts: scanning('alerts', [
    `DELETE FROM dead_letters WHERE alert_id IN (
       SELECT id FROM alerts WHERE id > $2 AND id <= $3 AND guild_id = $1)`,
    'DELETE FROM alerts WHERE id > $2 AND id <= $3 AND guild_id = $1',
  ]),
  batches: scanning('batches', [
    `DELETE FROM batches b WHERE id > $2 AND id <= $3
       AND channel_id IN (SELECT channel_id FROM channels WHERE guild_id = $1)
       AND NOT EXISTS (SELECT 1 FROM alerts WHERE batch_id = b.id)`,
  ]),
  decisions: deletingSome('decisions', 'guild_id = $1 AND id <= $2', ({ decisions }) => decisions, 'id'),
  counterparties: deletingSome('counterparties', 'guild_id = $1 AND $2::bigint IS NOT NULL', () => 0),
  audit: deletingSome('audit', 'guild_id = $1 AND id <= $2', ({ audit }) => audit),
  transfers: deletingSome(
    'transfers',
    '$1::text IS NOT NULL AND scope = $2 AND NOT EXISTS (SELECT 1 FROM alerts WHERE transfer_id = transfers.id)',
    ({ scope }) => scope,
    'id',
  ),
  channels: deletingSome(
    'channels',
    `guild_id = $1 AND $2::bigint IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM alerts a WHERE a.channel_id = channels.channel_id AND state = 'waiting')
       AND NOT EXISTS (SELECT 1 FROM batches b WHERE b.channel_id = channels.channel_id AND state = 'frozen')`,
    () => 0,
  ),
};

/** Erases what is stored about one guild, in steps between which others can write. */
export function erasureTable(db: Connection) {
  return {
    begin: (guildId: string) => db.write((sql) => begin(sql, guildId)),
    removed: (before: number) => removedBefore(db.reads, before),
    beginRemoved: (guildId: string, before: number) =>
      db.write(async (sql) => {
        const isRemoved = (await removedBefore(sql, before)).includes(guildId);
        if (isRemoved) await begin(sql, guildId);
        return isRemoved;
      }),
    /** Without `from` it starts again at the first row. A step that a power failure undoes is repeated. */
    step: async (guildId: string, from?: Cursor<'erasure'>): Promise<Cursor<'erasure'> | null> =>
      toCursor(await db.writeUnsynced((sql) => eraseSome(sql, guildId, from ? positionOf(from) : ERASURE_START))),
    begun: async () => {
      const rows = await db.reads.all<{ guildId: string }>(
        'SELECT guild_id AS "guildId" FROM erasures ORDER BY guild_id',
      );
      return rows.map(({ guildId }) => guildId);
    },
  };
}

async function removedBefore(sql: Statements, before: number): Promise<string[]> {
  const rows = await sql.all<{ guildId: string }>(
    'SELECT guild_id AS "guildId" FROM guild_removals WHERE removed_at < $1 ORDER BY guild_id',
    before,
  );
  return rows.map(({ guildId }) => guildId);
}

/** A repeated start covers the rows added since. The first start's project may be gone by then. */
async function begin(sql: Statements, guildId: string): Promise<void> {
  const row = await sql.get<{ scope: number | null }>(
    `INSERT INTO erasures (guild_id, scope, last_alert, last_batch, last_decision, last_audit)
     SELECT $1, (SELECT id FROM projects WHERE guild_id = $1),
       (SELECT coalesce(max(id), 0) FROM alerts), (SELECT coalesce(max(id), 0) FROM batches),
       (SELECT coalesce(max(id), 0) FROM decisions), (SELECT coalesce(max(id), 0) FROM audit)
     ON CONFLICT (guild_id) DO UPDATE
       SET scope = coalesce(excluded.scope, erasures.scope),
         last_alert = excluded.last_alert, last_batch = excluded.last_batch, last_decision = excluded.last_decision,
         last_audit = excluded.last_audit
     RETURNING scope`,
    guildId,
  );
  for (const table of ERASED_BY_GUILD) await sql.run(`DELETE FROM ${table} WHERE guild_id = $1`, guildId);
  for (const table of ERASED_BY_SCOPE) await sql.run(`DELETE FROM ${table} WHERE scope = $1`, row!.scope);
  await sql.run('DELETE FROM projects WHERE id = $1', row!.scope);
}

async function eraseSome(
  sql: Statements,
  guildId: string,
  { part, after }: ErasurePosition,
): Promise<ErasurePosition | null> {
  const bounds = await sql.get<Bounds>(
    `SELECT scope, last_alert AS alerts, last_batch AS batches, last_decision AS decisions, last_audit AS audit
     FROM erasures WHERE guild_id = $1`,
    guildId,
  );
  if (!bounds) return null;
  const next = erasureAfter(part, await STEPS[part](sql, guildId, bounds, after));
  if (next === null) await sql.run('DELETE FROM erasures WHERE guild_id = $1', guildId);
  return next;
}

/** A table without an index by guild: goes through its rows by their ids. */
function scanning(table: 'alerts' | 'batches', statements: string[]): Step {
  return async (sql, guildId, bounds, after) => {
    const to = Math.min(after + MAX_SCANNED, bounds[table]);
    for (const statement of statements) await sql.run(statement, guildId, after, to);
    return to === bounds[table] ? null : to;
  };
}

/**
 * A table in which an index finds the rows; `second`: the condition's second value. `key`: a partitioned table's own,
 * because `ctid` is unique only within one partition.
 */
function deletingSome(
  table: string,
  condition: string,
  second: (bounds: Bounds) => number | null,
  key: 'id' | 'ctid' = 'ctid',
): Step {
  return async (sql, guildId, bounds) => {
    const deleted = await sql.run(
      `DELETE FROM ${table} WHERE ${key} = ANY(ARRAY(
         SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ${MAX_DELETED}))`,
      guildId,
      second(bounds),
    );
    return deleted < MAX_DELETED ? null : 0;
  };
}
