import { TABLES } from '../schema.ts';
import { type QueriesOf, raw, read, remove, report, type Sql, unsynced, upsertAll, write } from '../sql.ts';
import type { Erasure } from '../store.ts';

/** How many rows of a table one step deletes, at most. */
const MAX_ROWS = 500;

/** Small tables that cause new alerts: an erasure deletes a guild's rows in them first, and at once. */
const BY_GUILD = [
  'subscriptions',
  'labels',
  'token_mutes',
  'webhook_names',
  'chosen_webhooks',
  'guilds',
  'statements',
  'confirmations',
  'guild_removals',
];
/** Small tables of the guild's own project: an erasure deletes its rows in them before the project itself. */
export const BY_SCOPE = ['heads', 'quarantine', 'inbox', 'scope_usage', 'receiver_tokens'];

/**
 * The rest, in this order: rows are deleted before the rows that they refer to. What was stored since the erasure began
 * stays: `e` is what was there then. Transfers go with their deliveries and decisions, alerts with their dead letters.
 */
const STEPS = Object.entries({
  alerts: 'x.guild_id = e.guild_id AND x.id <= e.last_alert',
  batches: `x.channel_id IN (SELECT channel_id FROM channels WHERE guild_id = e.guild_id) AND x.id <= e.last_batch
    AND NOT EXISTS (SELECT 1 FROM alerts WHERE batch_id = x.id)`,
  decisions: 'x.guild_id = e.guild_id AND x.id <= e.last_decision',
  counterparties: 'x.guild_id = e.guild_id',
  audit: 'x.guild_id = e.guild_id AND x.id <= e.last_audit',
  transfers: `x.scope IN (SELECT scope FROM erased_scopes WHERE guild_id = e.guild_id)
    AND NOT EXISTS (SELECT 1 FROM alerts WHERE transfer_id = x.id)`,
  channels: `x.guild_id = e.guild_id
    AND NOT EXISTS (SELECT 1 FROM alerts WHERE channel_id = x.channel_id AND state = 'waiting')
    AND NOT EXISTS (SELECT 1 FROM batches WHERE channel_id = x.channel_id AND state = 'frozen')`,
});

/** Erases what is stored about one guild, in steps between which others can write. */
export const erasure: QueriesOf<Erasure> = {
  begin: write(begin),

  removed: report((sql, before) => removedBefore(sql, before)),

  // A step that a power failure undoes is repeated.
  step: unsynced(async (sql, guildId) => {
    for (const [table, where] of STEPS) {
      const { key } = TABLES.find(({ name }) => name === table)!;
      const deleted = await sql.run`
        DELETE FROM ${raw(table)} WHERE (${raw(key.join(', '))}) IN (
          SELECT ${raw(key.map((column) => `x.${column}`).join(', '))} FROM erasures e CROSS JOIN ${raw(table)} x
          WHERE e.guild_id = ${guildId} AND ${raw(where)} LIMIT ${MAX_ROWS})`;
      if (deleted === MAX_ROWS) return true;
    }
    for (const table of ['erasures', 'erased_scopes']) await remove(sql, table, { guildId });
    return false;
  }),

  begun: read((sql) => sql.list`SELECT guild_id FROM erasures ORDER BY guild_id`),
};

const removedBefore = (sql: Sql, before: number) =>
  sql.list<string>`SELECT guild_id FROM guild_removals WHERE removed_at < ${before} ORDER BY guild_id`;

/** A repeated start covers the rows added since. The first start's projects may be gone by then. */
async function begin(sql: Sql, guildId: string, before?: number): Promise<boolean> {
  if (before !== undefined && !(await removedBefore(sql, before)).includes(guildId)) return false;
  const last = await sql.get<object>`
    SELECT (SELECT coalesce(max(id), 0) FROM alerts) AS last_alert,
      (SELECT coalesce(max(id), 0) FROM batches) AS last_batch,
      (SELECT coalesce(max(id), 0) FROM decisions) AS last_decision,
      (SELECT coalesce(max(id), 0) FROM audit) AS last_audit`;
  await upsertAll(sql, 'erasures', 'guild_id', [{ guildId, ...last }]);
  await sql.run`
    INSERT INTO erased_scopes (guild_id, scope) SELECT guild_id, id FROM projects WHERE guild_id = ${guildId}
    ON CONFLICT DO NOTHING`;
  for (const table of BY_GUILD) await remove(sql, table, { guildId });
  const scopes = await sql.list<number>`SELECT scope FROM erased_scopes WHERE guild_id = ${guildId}`;
  for (const scope of scopes) for (const table of BY_SCOPE) await remove(sql, table, { scope });
  await remove(sql, 'projects', { guildId });
  return true;
}
