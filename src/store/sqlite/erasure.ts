import type { Database } from 'better-sqlite3';
import type { ErasureCursor } from '../../domain/retention.ts';
import { forgetting } from './database.ts';

/** Nothing but a guild's settings and what brings it alerts. */
const BEGUN: ErasureCursor = { at: 0, after: 0 };

/** A step keeps the writer from everything else for little more than this. */
const STEP_MS = 4;
/** Rows that are looked through, and rows that are found and deleted, at once. */
const LOOKED_THROUGH = 200;
const FOUND = 50;

/** First what brings new events and new alerts; all of it is little. */
const FIRST = [
  'DELETE FROM subscriptions WHERE guild_id = @guildId',
  'DELETE FROM labels WHERE guild_id = @guildId',
  'DELETE FROM token_mutes WHERE guild_id = @guildId',
  'DELETE FROM webhook_names WHERE guild_id = @guildId',
  'DELETE FROM guilds WHERE guild_id = @guildId',
  'DELETE FROM heads WHERE scope = @scope',
  'DELETE FROM quarantine WHERE scope = @scope',
  'DELETE FROM inbox WHERE scope = @scope',
  'DELETE FROM receiver_tokens WHERE scope = @scope',
  'DELETE FROM projects WHERE id = @scope',
  "DELETE FROM meta WHERE key = 'removed-' || @guildId",
];

/**
 * Then what grows with every event, in an order in which nothing is left that points to what is gone: tables without an
 * index by guild are looked through, of the others a few rows are taken at a time. What came over the receiver URLs of
 * a guild's own project goes as well, deliveries with their transfers. An alert that was on its way from the router
 * keeps what it points to.
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
      SELECT id FROM decisions WHERE guild_id = @guildId AND id <= @decisions LIMIT ${FOUND})`,
  },
  {
    few: `DELETE FROM counterparties WHERE (guild_id, address, ends, counterparty) IN (
      SELECT guild_id, address, ends, counterparty FROM counterparties WHERE guild_id = @guildId LIMIT ${FOUND})`,
  },
  {
    few: `DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE guild_id = @guildId AND id <= @audit LIMIT ${FOUND})`,
  },
  {
    few: `DELETE FROM transfers WHERE id IN (
      SELECT id FROM transfers t WHERE scope = @scope AND NOT EXISTS (SELECT 1 FROM alerts WHERE transfer_id = t.id)
      LIMIT ${FOUND})`,
  },
  {
    few: `DELETE FROM channels WHERE guild_id = @guildId
       AND NOT EXISTS (SELECT 1 FROM alerts a WHERE a.channel_id = channels.channel_id AND state = 'waiting')
       AND NOT EXISTS (SELECT 1 FROM batches b WHERE b.channel_id = channels.channel_id AND state = 'frozen')`,
  },
];

/** What was there when erasing began: a project's scope, and each table's last row. What comes later is not erased. */
interface Bounds {
  scope: number;
  alerts: number;
  batches: number;
  decisions: number;
  audit: number;
}

/** Forgets everything about one guild, in steps between which others can write; `elapsed` gives milliseconds since any time. */
export function erasureTable(db: Database, elapsed: () => number) {
  // What a crash breaks off goes on at the next start.
  const note = db.prepare<{ guildId: string }>(
    `INSERT OR REPLACE INTO meta (key, value) VALUES ('erasing-' || @guildId, json_object(
       'scope', coalesce((SELECT id FROM projects WHERE guild_id = @guildId),
         (SELECT value ->> 'scope' FROM meta WHERE key = 'erasing-' || @guildId), -1),
       'alerts', (SELECT coalesce(max(id), 0) FROM alerts), 'batches', (SELECT coalesce(max(id), 0) FROM batches),
       'decisions', (SELECT coalesce(max(id), 0) FROM decisions), 'audit', (SELECT coalesce(max(id), 0) FROM audit)))`,
  );
  const bounds = db
    .prepare<{ guildId: string }, string>("SELECT value FROM meta WHERE key = 'erasing-' || @guildId")
    .pluck();
  const noted = db
    .prepare<[], string>("SELECT substr(key, length('erasing-') + 1) FROM meta WHERE key GLOB 'erasing-*'")
    .pluck();
  const removed = db
    .prepare<{ before: number }, string>(
      `SELECT substr(key, length('removed-') + 1) FROM meta
       WHERE key GLOB 'removed-*' AND CAST(value AS INTEGER) < @before ORDER BY key`,
    )
    .pluck();
  const forget = db.prepare<{ guildId: string }>("DELETE FROM meta WHERE key = 'erasing-' || @guildId");
  const first = FIRST.map((sql) => db.prepare(sql));
  const rest = REST.map((one) =>
    'few' in one
      ? { few: db.prepare(one.few) }
      : { through: one.through, each: one.each.map((sql) => db.prepare(sql)) },
  );

  const boundsOf = (guildId: string): Bounds | null => {
    const text = bounds.get({ guildId });
    return text === undefined ? null : (JSON.parse(text) as Bounds);
  };
  const begin = db.transaction((guildId: string): void => {
    note.run({ guildId });
    const { scope } = boundsOf(guildId)!;
    for (const statement of first) statement.run({ guildId, scope });
  });
  const beginRemoved = db.transaction((guildId: string, before: number): boolean => {
    const isRemoved = removed.all({ before }).includes(guildId);
    if (isRemoved) begin(guildId);
    return isRemoved;
  });
  const step = db.transaction((guildId: string, from: ErasureCursor): ErasureCursor | null => {
    const end = elapsed() + STEP_MS;
    const known = boundsOf(guildId);
    if (!known) return null;
    let { at, after } = from;
    while (at < rest.length) {
      const table = rest[at]!;
      if ('few' in table) {
        if (table.few.run({ guildId, ...known }).changes < FOUND) at++;
      } else {
        const to = Math.min(after + LOOKED_THROUGH, known[table.through]);
        for (const statement of table.each) statement.run({ guildId, after, to });
        after = to;
        if (to === known[table.through]) [at, after] = [at + 1, 0];
      }
      if (elapsed() >= end) return { at, after };
    }
    forget.run({ guildId });
    return null;
  });

  return {
    /** Erases a guild's settings and whatever brings it alerts; the rest goes by steps. */
    begin: (guildId: string): void => begin.immediate(guildId),
    /** Guilds that removed the bot before a time and did not take it back. */
    removed: (before: number): string[] => removed.all({ before }),
    /** Begins with one of these; false when it is none any more. */
    beginRemoved: (guildId: string, before: number): boolean => beginRemoved.immediate(guildId, before),
    /**
     * Erases some more; gives where to go on, or null when nothing is left. Without `from` it begins anew with what
     * was there when erasing began. If the power fails it is erased again.
     */
    step: (guildId: string, from: ErasureCursor = BEGUN): ErasureCursor | null =>
      forgetting(db, () => step.immediate(guildId, from)),
    /** Guilds whose erasing was begun and not ended. */
    begun: (): string[] => noted.all(),
  };
}
