import type { Database } from 'better-sqlite3';
import type { ErasureCursor } from '../../domain/retention.ts';
import { forgetting } from './database.ts';

/** The first table's first row. */
const START: ErasureCursor = { at: 0, after: 0 };

/** A step blocks other writes only slightly longer than this. */
const STEP_MS = 4;
/** How many rows one statement scans, or finds by an index and deletes. */
const SCANNED = 200;
const DELETED = 50;

/** Small tables that cause new alerts: erased first, and at once. */
const FIRST = [
  'DELETE FROM subscriptions WHERE guild_id = @guildId',
  'DELETE FROM labels WHERE guild_id = @guildId',
  'DELETE FROM token_mutes WHERE guild_id = @guildId',
  'DELETE FROM webhook_names WHERE guild_id = @guildId',
  'DELETE FROM guilds WHERE guild_id = @guildId',
  'DELETE FROM confirmations WHERE guild_id = @guildId',
  'DELETE FROM heads WHERE scope = @scope',
  'DELETE FROM quarantine WHERE scope = @scope',
  'DELETE FROM inbox WHERE scope = @scope',
  'DELETE FROM scope_usage WHERE scope = @scope',
  'DELETE FROM receiver_tokens WHERE scope = @scope',
  'DELETE FROM projects WHERE id = @scope',
  'DELETE FROM guild_removals WHERE guild_id = @guildId',
];

/**
 * Then tables that grow with every event. Rows are deleted before the rows that they reference. Tables without an index
 * by guild are scanned (`through`); in the others a few rows are deleted at a time (`few`). Transfers of the guild's
 * own project are deleted with their deliveries. Rows that a newly stored alert references stay.
 */
const REST: ({ through: 'alerts' | 'batches'; each: string[] } | { few: string })[] = [
  {
    through: 'alerts',
    each: [
      'DELETE FROM dead_letters WHERE alert_id IN (SELECT id FROM alerts WHERE id > @after AND id <= @to AND guild_id = @guildId)',
      'DELETE FROM alerts WHERE id > @after AND id <= @to AND guild_id = @guildId',
    ],
  },
  {
    through: 'batches',
    each: [
      `DELETE FROM batches WHERE id > @after AND id <= @to
         AND channel_id IN (SELECT channel_id FROM channels WHERE guild_id = @guildId)
         AND NOT EXISTS (SELECT 1 FROM alerts WHERE batch_id = batches.id)`,
    ],
  },
  {
    few: `DELETE FROM decisions WHERE id IN (
      SELECT id FROM decisions WHERE guild_id = @guildId AND id <= @decisions LIMIT ${DELETED})`,
  },
  {
    few: `DELETE FROM counterparties WHERE (guild_id, address, ends, counterparty) IN (
      SELECT guild_id, address, ends, counterparty FROM counterparties WHERE guild_id = @guildId LIMIT ${DELETED})`,
  },
  {
    few: `DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE guild_id = @guildId AND id <= @audit LIMIT ${DELETED})`,
  },
  {
    few: `DELETE FROM transfers WHERE id IN (
      SELECT id FROM transfers t WHERE scope = @scope AND NOT EXISTS (SELECT 1 FROM alerts WHERE transfer_id = t.id)
      LIMIT ${DELETED})`,
  },
  {
    few: `DELETE FROM channels WHERE guild_id = @guildId
       AND NOT EXISTS (SELECT 1 FROM alerts a WHERE a.channel_id = channels.channel_id AND state = 'waiting')
       AND NOT EXISTS (SELECT 1 FROM batches b WHERE b.channel_id = channels.channel_id AND state = 'frozen')`,
  },
];

/** What was there when the erasure began: the project's scope (null: none), and each table's last row. */
interface Bounds {
  scope: number | null;
  alerts: number;
  batches: number;
  decisions: number;
  audit: number;
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
  const begun = db.prepare<[], string>('SELECT guild_id FROM erasures ORDER BY guild_id').pluck();
  const removed = db
    .prepare<{ before: number }, string>(
      'SELECT guild_id FROM guild_removals WHERE removed_at < @before ORDER BY guild_id',
    )
    .pluck();
  const finish = db.prepare<[string]>('DELETE FROM erasures WHERE guild_id = ?');
  const first = FIRST.map((sql) => db.prepare(sql));
  const rest = REST.map((one) =>
    'few' in one
      ? { few: db.prepare(one.few) }
      : { through: one.through, each: one.each.map((sql) => db.prepare(sql)) },
  );

  const begin = db.transaction((guildId: string): void => {
    record.run({ guildId });
    const { scope } = boundsOf.get(guildId)!;
    for (const statement of first) statement.run({ guildId, scope });
  });
  const beginRemoved = db.transaction((guildId: string, before: number): boolean => {
    const isRemoved = removed.all({ before }).includes(guildId);
    if (isRemoved) begin(guildId);
    return isRemoved;
  });
  const step = db.transaction((guildId: string, from: ErasureCursor): ErasureCursor | null => {
    const end = elapsed() + STEP_MS;
    const bounds = boundsOf.get(guildId);
    if (!bounds) return null;
    let { at, after } = from;
    while (at < rest.length) {
      const table = rest[at]!;
      if ('few' in table) {
        if (table.few.run({ guildId, ...bounds }).changes < DELETED) at++;
      } else {
        const to = Math.min(after + SCANNED, bounds[table.through]);
        for (const statement of table.each) statement.run({ guildId, after, to });
        after = to;
        if (to === bounds[table.through]) [at, after] = [at + 1, 0];
      }
      if (elapsed() >= end) return { at, after };
    }
    finish.run(guildId);
    return null;
  });

  return {
    begin: (guildId: string): void => begin.immediate(guildId),
    removed: (before: number): string[] => removed.all({ before }),
    beginRemoved: (guildId: string, before: number): boolean => beginRemoved.immediate(guildId, before),
    /** Without `from` it starts again at the first row. A step that a power failure undoes is repeated. */
    step: (guildId: string, from: ErasureCursor = START): ErasureCursor | null =>
      forgetting(db, () => step.immediate(guildId, from)),
    begun: (): string[] => begun.all(),
  };
}
