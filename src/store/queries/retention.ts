import type { CheckProgress } from '../../domain/completeness.ts';
import { TABLES } from '../schema.ts';
import { insertAll, isIn, type QueriesOf, raw, read, remove, report, type Sql, unsynced, write } from '../sql.ts';
import type { Erasure, Retention } from '../store.ts';
import { META_KEYS, putValue, valueAt } from './meta.ts';
import { pruneKnowledge } from './tokens.ts';

const MAX_ROWS = 1_000;

/** A step that a power failure undoes is repeated. */
export const retention: QueriesOf<Retention> = {
  prunedBefore: report(async (sql) => {
    const known = await valueAt(sql, META_KEYS.pruned);
    if (known !== null) return Number(known);
    return sql.value`
      SELECT min(at) AS at FROM (
        SELECT min(frozen_at) AS at FROM batches
        UNION ALL SELECT min(seen_at) FROM (
          SELECT seen_at FROM transfers ORDER BY id LIMIT ${MAX_ROWS}) AS first) AS oldest`;
  }),

  setPrunedBefore: unsynced((sql, time) => putValue(sql, META_KEYS.pruned, String(time))),

  // By ids, which grow with time.
  pruneTransfers: unsynced(async (sql, before, afterId) => {
    const rows = await sql.all<{ id: number; seenAt: number }>`
      SELECT id, seen_at FROM transfers WHERE id > ${afterId} ORDER BY id LIMIT ${MAX_ROWS}`;
    const aged = rows.filter(({ seenAt }) => seenAt < before).map(({ id }) => id);
    await dropAlerts(sql, aged, 0);
    await dropWithoutAlerts(sql, aged);
    return aged.length > 0 && rows.length === MAX_ROWS ? rows.at(-1)!.id : null;
  }),

  pruneUnmatched: unsynced(async (sql, scope, since, before) => {
    const rows = await sql.all<{ id: number; seenAt: number; isMatched: boolean }>`
      SELECT id, seen_at, EXISTS (SELECT 1 FROM decisions WHERE transfer_id = t.id) AS is_matched_flag FROM transfers t
      WHERE scope = ${scope} AND seen_at >= ${since} AND seen_at < ${before} ORDER BY seen_at LIMIT ${MAX_ROWS}`;
    const unmatched = rows.flatMap(({ id, isMatched }) => (isMatched ? [] : id));
    await dropWithoutAlerts(sql, unmatched);
    return rows.length === MAX_ROWS ? Math.max(rows.at(-1)!.seenAt, since + 1) : null;
  }),

  pruneWorthless: unsynced(async (sql, before, afterId, isDiskLow) => {
    const rows = await sql.all<{
      id: number;
      seenAt: number;
      block: number | null;
      compared: CheckProgress | null;
      isCataloged: boolean | null;
    }>`
      SELECT t.id, t.seen_at, t.block, c.cataloged AS is_cataloged_flag,
        (SELECT value FROM meta WHERE key = CAST(${META_KEYS.checked} AS TEXT) || t.network) AS compared_json
      FROM transfers t LEFT JOIN catalog c ON c.network = t.network AND c.token = t.token
      WHERE t.worthless = 1 AND t.id > ${afterId} ORDER BY t.id LIMIT ${MAX_ROWS}`;
    const old = rows.filter(({ seenAt }) => seenAt < before);
    // A token that could not be looked up may be genuine.
    const looked = old.filter(({ isCataloged }) => !(isCataloged ?? !isDiskLow));
    // What is forgotten before its block is compared would be found there again, and posted twice.
    const isAwaited = ({ block, compared }: (typeof rows)[number]) => (block ?? 0) > (compared?.block ?? Infinity);
    const aged = looked.filter((row) => isDiskLow || !isAwaited(row)).map(({ id }) => id);
    const messages = await sql.list<number>`
      SELECT DISTINCT batch_id FROM alerts WHERE transfer_id ${isIn(aged)} AND batch_id IS NOT NULL`;
    await dropAlerts(sql, aged, before);
    const deleted = await dropWithoutAlerts(sql, aged);
    await dropMessages(sql, messages);
    return { deleted, next: old.length === MAX_ROWS ? old.at(-1)!.id : null };
  }),

  reusableBytes: read(async (sql) => {
    if (sql.engine === 'postgres') return 0;
    return (await sql.value`SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size`)!;
  }),

  pruneMessages: unsynced(async (sql, before, from) => {
    const rows = await sql.all<{ id: number; frozenAt: number }>`
      SELECT id, frozen_at FROM batches WHERE frozen_at >= ${from} AND frozen_at < ${before}
      ORDER BY frozen_at LIMIT ${MAX_ROWS}`;
    const ids = rows.map(({ id }) => id);
    await dropMessages(sql, ids);
    return rows.length === MAX_ROWS ? Math.max(rows.at(-1)!.frozenAt, from + 1) : null;
  }),

  pruneRest: unsynced(async (sql, before) => {
    const quarantined = await sql.run`
      DELETE FROM quarantine WHERE id IN (
        SELECT id FROM quarantine WHERE hash IS NOT NULL AND received_at < ${before} LIMIT ${MAX_ROWS})`;
    return quarantined + (await pruneKnowledge(sql, before, MAX_ROWS)) > 0;
  }),
};

/** Dead letters from `since` on keep their alerts: they can still be replayed. */
const dropAlerts = (sql: Sql, transferIds: readonly number[], since: number) => sql.run`
  DELETE FROM alerts WHERE transfer_id ${isIn(transferIds)} AND state IN ('sent', 'dead')
    AND NOT EXISTS (SELECT 1 FROM dead_letters d WHERE d.alert_id = alerts.id AND d.at >= ${since})`;

const dropMessages = (sql: Sql, ids: readonly number[]) => sql.run`
  DELETE FROM batches WHERE id ${isIn(ids)} AND state <> 'frozen'
    AND NOT EXISTS (SELECT 1 FROM alerts WHERE batch_id = batches.id)`;

/** With their deliveries and decisions. */
const dropWithoutAlerts = (sql: Sql, ids: readonly number[]) => sql.run`
  DELETE FROM transfers WHERE id ${isIn(ids)} AND NOT EXISTS (SELECT 1 FROM alerts WHERE transfer_id = transfers.id)`;

const MAX_ERASED = 500;

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
export const BY_SCOPE = ['heads', 'quarantine', 'inbox', 'scope_usage', 'receiver_tokens'];

/**
 * In this order: rows are deleted before the rows that they refer to. What was stored since the erasure began stays:
 * `e` has the last ids of then. Foreign keys delete deliveries, decisions and dead letters.
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

export const erasure: QueriesOf<Erasure> = {
  begin: write(begin),

  removed: report((sql, before) => removedBefore(sql, before)),

  step: unsynced(async (sql, guildId) => {
    for (const [table, where] of STEPS) {
      const { key } = TABLES.find(({ name }) => name === table)!;
      const deleted = await sql.run`
        DELETE FROM ${raw(table)} WHERE (${raw(key.join(', '))}) IN (
          SELECT ${raw(key.map((column) => `x.${column}`).join(', '))} FROM erasures e CROSS JOIN ${raw(table)} x
          WHERE e.guild_id = ${guildId} AND ${raw(where)} LIMIT ${MAX_ERASED})`;
      if (deleted === MAX_ERASED) return true;
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
  await insertAll(sql, 'erasures', [{ guildId, ...last }], { key: 'guild_id' });
  await sql.run`
    INSERT INTO erased_scopes (guild_id, scope) SELECT guild_id, id FROM projects WHERE guild_id = ${guildId}
    ON CONFLICT DO NOTHING`;
  for (const table of BY_GUILD) await remove(sql, table, { guildId });
  const scopes = await sql.list<number>`SELECT scope FROM erased_scopes WHERE guild_id = ${guildId}`;
  for (const scope of scopes) for (const table of BY_SCOPE) await remove(sql, table, { scope });
  await remove(sql, 'projects', { guildId });
  return true;
}
