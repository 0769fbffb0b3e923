import type { Notice } from '../../domain/batch.ts';
import { channelForNotices, compareGuilds, GONE, type KnownGuild, type UsedChannel } from '../../domain/guild.ts';
import { insert, insertAll, isIn, type QueriesOf, raw, read, report, type Sql, update, write } from '../sql.ts';
import type { Channels } from '../store.ts';

/** Tables in which a guild's rows stay longer than 30 days. */
const TRACES = raw(
  ['guilds', 'subscriptions', 'labels', 'projects', 'channels', 'audit', 'confirmations']
    .map((table) => `SELECT guild_id FROM ${table}`)
    .join(' UNION '),
);

export const channels: QueriesOf<Channels> = {
  setState: write(async (sql, { channelId, state, dueAt, attempts, since, reason }, notice = null) => {
    const changed = { state, dueAt, attempts, since, reason, botRemoved: false };
    await update(sql, 'channels', { channelId }, changed);
    if (notice) await writeNotice(sql, notice);
    if (state === 'ready')
      await sql.run`
        DELETE FROM batches WHERE kind = 'notice' AND state = 'frozen' AND unconfirmed = 0
          AND about_channel_id = ${channelId}`;
  }),

  blocked: report(
    (sql, guildId) =>
      sql.all`
        SELECT channel_id, state, reason FROM channels WHERE guild_id = ${guildId} AND state <> 'ready'
        ORDER BY channel_id`,
  ),

  channelForNotices: read(placeForNotices),
  postNotice: write(writeNotice),

  guildRemoved: write(async (sql, guildId, now, dueAt) => {
    await recordRemovals(sql, [guildId], now);
    await sql.run`
      UPDATE channels SET state = 'unreachable', due_at = ${dueAt}, attempts = 0, since = ${now}, reason = ${GONE},
        bot_removed = 1
      WHERE guild_id = ${guildId} AND state <> 'unreachable'`;
  }),

  guildReturned: write((sql, guildId) => guildsReturned(sql, [guildId])),

  syncGuilds: write(async (sql, present, shard, now) => {
    const known = await sql.all<KnownGuild>`
      SELECT traces.guild_id, r.guild_id IS NOT NULL AS removed_flag
      FROM (${TRACES}) AS traces
        LEFT JOIN guild_removals r ON r.guild_id = traces.guild_id
      ORDER BY traces.guild_id`;
    const { gone, back } = compareGuilds(known, present, shard);
    // Discord's responses will show the state of their channels.
    await recordRemovals(sql, gone, now);
    await guildsReturned(sql, back);
    return { gone, back };
  }),
};

/** A repeated report is about the same removal. It also corrects a time from a clock that was ahead. */
async function recordRemovals(sql: Sql, guildIds: readonly string[], now: number): Promise<void> {
  const removed = guildIds.map((guildId) => ({ guildId, removedAt: now }));
  const isEarlier = 'WHERE excluded.removed_at < guild_removals.removed_at';
  await insertAll(sql, 'guild_removals', removed, { key: 'guild_id', rest: isEarlier });
}

async function guildsReturned(sql: Sql, guildIds: readonly string[]): Promise<void> {
  await sql.run`DELETE FROM guild_removals WHERE guild_id ${isIn(guildIds)}`;
  await sql.run`
    UPDATE channels SET state = 'ready', due_at = 0, attempts = 0, since = NULL, reason = NULL, bot_removed = 0
    WHERE guild_id ${isIn(guildIds)} AND bot_removed = 1`;
}

export async function writeNotice(sql: Sql, { guildId, now: frozenAt, ...notice }: Notice): Promise<void> {
  const channel = { channelId: notice.channelId, guildId };
  await insertAll(sql, 'channels', [channel], { rest: 'ON CONFLICT (channel_id) DO NOTHING' });
  await insert(sql, 'batches', { ...notice, kind: 'notice', state: 'frozen', frozenAt });
}

export async function placeForNotices(sql: Sql, guildId: string, troubledId: string): Promise<string | null> {
  const chosen = await sql.get<UsedChannel>`
    SELECT default_channel AS channel_id, state FROM guilds LEFT JOIN channels ON channel_id = default_channel
    WHERE guilds.guild_id = ${guildId} AND default_channel IS NOT NULL`;
  const used = await sql.all<UsedChannel>`
    SELECT s.channel_id, state FROM subscriptions s LEFT JOIN channels c ON c.channel_id = s.channel_id
    WHERE s.guild_id = ${guildId} ORDER BY s.id`;
  return channelForNotices(troubledId, { chosen: chosen ?? null, used });
}
