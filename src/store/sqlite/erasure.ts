import type { Database } from 'better-sqlite3';
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
import { runDeletionStep } from './database.ts';

/** A step blocks other writes only slightly longer than this. */
const STEP_MS = 4;
/** How many rows one statement scans, or finds by an index and deletes, at most. */
const MAX_SCANNED = 200;
const MAX_DELETED = 50;

const FIRST = [
  ...ERASED_BY_GUILD.map((table) => `DELETE FROM ${table} WHERE guild_id = @guildId`),
  ...ERASED_BY_SCOPE.map((table) => `DELETE FROM ${table} WHERE scope = @scope`),
  'DELETE FROM projects WHERE id = @scope',
];

/** What was there when the erasure began: the project's scope (null: none), and each table's last row. */
interface Bounds {
  scope: number | null;
  alerts: number;
  batches: number;
  decisions: number;
  audit: number;
}

/** Part of a table whose rows are erased: returns where to go on in it, null when it is done. */
type Step = (guildId: string, bounds: Bounds, after: number) => number | null;

/**
 * Then tables that grow with every event. Transfers of the guild's own project are deleted with their deliveries. Rows
 * that a newly stored alert references stay.
 */
const stepsOf = (db: Database): Record<ErasedPart, Step> => ({
  alerts: scanning(db, 'alerts', [
    `DELETE FROM dead_letters WHERE alert_id IN (
       SELECT id FROM alerts WHERE id > @after AND id <= @to AND guild_id = @guildId)`,
    'DELETE FROM alerts WHERE id > @after AND id <= @to AND guild_id = @guildId',
  ]),
  batches: scanning(db, 'batches', [
    `DELETE FROM batches WHERE id > @after AND id <= @to
       AND channel_id IN (SELECT channel_id FROM channels WHERE guild_id = @guildId)
       AND NOT EXISTS (SELECT 1 FROM alerts WHERE batch_id = batches.id)`,
  ]),
  decisions: deletingSome(
    db,
    `DELETE FROM decisions WHERE id IN (
      SELECT id FROM decisions WHERE guild_id = @guildId AND id <= @decisions LIMIT ${MAX_DELETED})`,
  ),
  counterparties: deletingSome(
    db,
    `DELETE FROM counterparties WHERE (guild_id, address, outer_digits, counterparty) IN (
      SELECT guild_id, address, outer_digits, counterparty FROM counterparties WHERE guild_id = @guildId LIMIT ${MAX_DELETED})`,
  ),
  audit: deletingSome(
    db,
    `DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE guild_id = @guildId AND id <= @audit LIMIT ${MAX_DELETED})`,
  ),
  transfers: deletingSome(
    db,
    `DELETE FROM transfers WHERE id IN (
      SELECT id FROM transfers t WHERE scope = @scope AND NOT EXISTS (SELECT 1 FROM alerts WHERE transfer_id = t.id)
      LIMIT ${MAX_DELETED})`,
  ),
  channels: deletingSome(
    db,
    `DELETE FROM channels WHERE guild_id = @guildId
       AND NOT EXISTS (SELECT 1 FROM alerts a WHERE a.channel_id = channels.channel_id AND state = 'waiting')
       AND NOT EXISTS (SELECT 1 FROM batches b WHERE b.channel_id = channels.channel_id AND state = 'frozen')`,
  ),
});

/** A table without an index by guild: goes through its rows by their ids. */
function scanning(db: Database, table: 'alerts' | 'batches', each: string[]): Step {
  const statements = each.map((sql) => db.prepare(sql));
  return (guildId, bounds, after) => {
    const to = Math.min(after + MAX_SCANNED, bounds[table]);
    for (const statement of statements) statement.run({ guildId, after, to });
    return to === bounds[table] ? null : to;
  };
}

/** A table in which an index finds the rows. */
function deletingSome(db: Database, sql: string): Step {
  const statement = db.prepare(sql);
  return (guildId, bounds) => (statement.run({ guildId, ...bounds }).changes < MAX_DELETED ? null : 0);
}

/** Which guilds are to be erased. */
export function erasureReader(db: Database) {
  const begun = db.prepare<[], string>('SELECT guild_id FROM erasures ORDER BY guild_id').pluck();
  const removed = db
    .prepare<{ before: number }, string>(
      'SELECT guild_id FROM guild_removals WHERE removed_at < @before ORDER BY guild_id',
    )
    .pluck();
  return {
    begun: (): string[] => begun.all(),
    removed: (before: number): string[] => removed.all({ before }),
  };
}

/** Erases what is stored about one guild, in steps between which others can write; `elapsed` returns milliseconds. */
export function erasureTable(db: Database, elapsed: () => number) {
  // A repeated start covers the rows added since. The first start's project may be gone by then.
  const record = db.prepare<{ guildId: string }>(
    `INSERT INTO erasures (guild_id, scope, last_alert, last_batch, last_decision, last_audit)
     SELECT @guildId, (SELECT id FROM projects WHERE guild_id = @guildId),
       (SELECT coalesce(max(id), 0) FROM alerts), (SELECT coalesce(max(id), 0) FROM batches),
       (SELECT coalesce(max(id), 0) FROM decisions), (SELECT coalesce(max(id), 0) FROM audit)
     WHERE true
     ON CONFLICT (guild_id) DO UPDATE SET scope = coalesce(excluded.scope, scope),
       last_alert = excluded.last_alert, last_batch = excluded.last_batch, last_decision = excluded.last_decision,
       last_audit = excluded.last_audit`,
  );
  const boundsOf = db.prepare<[string], Bounds>(
    `SELECT scope, last_alert AS alerts, last_batch AS batches, last_decision AS decisions, last_audit AS audit
     FROM erasures WHERE guild_id = ?`,
  );
  const { removed } = erasureReader(db);
  const finish = db.prepare<[string]>('DELETE FROM erasures WHERE guild_id = ?');
  const first = FIRST.map((sql) => db.prepare(sql));
  const steps = stepsOf(db);

  const begin = db.transaction((guildId: string): void => {
    record.run({ guildId });
    const { scope } = boundsOf.get(guildId)!;
    for (const statement of first) statement.run({ guildId, scope });
  });
  const beginRemoved = db.transaction((guildId: string, before: number): boolean => {
    const isRemoved = removed(before).includes(guildId);
    if (isRemoved) begin(guildId);
    return isRemoved;
  });
  const step = db.transaction((guildId: string, from: ErasurePosition): ErasurePosition | null => {
    const end = elapsed() + STEP_MS;
    const bounds = boundsOf.get(guildId);
    if (!bounds) return null;
    let at: ErasurePosition | null = from;
    while (at !== null) {
      at = erasureAfter(at.part, steps[at.part](guildId, bounds, at.after));
      if (at !== null && elapsed() >= end) return at;
    }
    finish.run(guildId);
    return null;
  });

  return {
    begin: (guildId: string): void => begin.immediate(guildId),
    beginRemoved: (guildId: string, before: number): boolean => beginRemoved.immediate(guildId, before),
    /** Without `from` it starts again at the first row. A step that a power failure undoes is repeated. */
    step(guildId: string, from?: Cursor<'erasure'>): Cursor<'erasure'> | null {
      const position = from ? positionOf(from) : ERASURE_START;
      return toCursor(runDeletionStep(db, () => step.immediate(guildId, position)));
    },
  };
}
