import type { Notice } from '../../domain/batch.ts';
import {
  type ChannelHead,
  type ChannelState,
  compareGuilds,
  GONE,
  type KnownGuild,
  type Shard,
} from '../../domain/channel.ts';
import { TRACES } from '../sql/rows.ts';
import type { Connection, Statements } from './connection.ts';
import { placeForNotices, withdrawNotices, writeNotice } from './notices.ts';

/** States of channels, and the notices about them. */
export function channelStates(db: Connection) {
  return {
    setState: (head: Omit<ChannelHead, 'guildId'> & { reason: string | null }, notice: Notice | null = null) =>
      db.write(async (sql) => {
        const { channelId, state, dueAt, attempts, since, reason } = head;
        await sql.run(
          `UPDATE channels SET state = $2, due_at = $3, attempts = $4, since = $5, reason = $6, bot_removed = FALSE
           WHERE channel_id = $1`,
          channelId,
          state,
          dueAt,
          attempts,
          since,
          reason,
        );
        if (notice) await writeNotice(sql, notice);
        if (state === 'ready') await withdrawNotices(sql, channelId);
      }),

    guildRemoved: (guildId: string, now: number, dueAt: number) =>
      db.write(async (sql) => {
        await recordRemovals(sql, [guildId], now);
        await sql.run(
          `UPDATE channels SET state = 'unreachable', due_at = $1, attempts = 0, since = $2, reason = $3,
             bot_removed = TRUE
           WHERE guild_id = $4 AND state <> 'unreachable'`,
          dueAt,
          now,
          GONE,
          guildId,
        );
      }),

    guildReturned: (guildId: string) => db.write((sql) => guildsReturned(sql, [guildId])),

    syncGuilds: (present: ReadonlySet<string>, shard: Shard, now: number) =>
      db.write(async (sql) => {
        const known = await sql.all<KnownGuild>(
          `SELECT guild_id AS "guildId",
             EXISTS (SELECT 1 FROM guild_removals r WHERE r.guild_id = traces.guild_id) AS removed
           FROM (${TRACES.map((table) => `SELECT guild_id FROM ${table}`).join(' UNION ')}) traces ORDER BY guild_id`,
        );
        const { gone, back } = compareGuilds(known, present, shard);
        // Discord's responses will show the state of their channels.
        await recordRemovals(sql, gone, now);
        await guildsReturned(sql, back);
        return { gone, back };
      }),

    postponeErasure: (guildId: string, now: number) =>
      db.write(async (sql) => {
        await sql.run('UPDATE guild_removals SET removed_at = $1 WHERE guild_id = $2', now, guildId);
      }),

    channelForNotices: (guildId: string, troubledId: string) =>
      db.read((sql) => placeForNotices(sql, guildId, troubledId)),

    postNotice: (notice: Notice) => db.write((sql) => writeNotice(sql, notice)),

    blocked: (guildId: string) =>
      db.reads.all<{ channelId: string; state: ChannelState; reason: string | null }>(
        `SELECT channel_id AS "channelId", state, reason FROM channels WHERE guild_id = $1 AND state <> 'ready'
         ORDER BY channel_id`,
        guildId,
      ),
  };
}

/** A repeated report is about the same removal. It also corrects a time from a clock that was ahead. */
async function recordRemovals(sql: Statements, guildIds: readonly string[], now: number): Promise<void> {
  await sql.run(
    `INSERT INTO guild_removals (guild_id, removed_at) SELECT guild_id, $2::bigint FROM unnest($1::text[]) AS g (guild_id)
     ON CONFLICT (guild_id) DO UPDATE SET removed_at = excluded.removed_at
     WHERE excluded.removed_at < guild_removals.removed_at`,
    guildIds,
    now,
  );
}

async function guildsReturned(sql: Statements, guildIds: readonly string[]): Promise<void> {
  await sql.run('DELETE FROM guild_removals WHERE guild_id = ANY($1::text[])', guildIds);
  await sql.run(
    `UPDATE channels SET state = 'ready', due_at = 0, attempts = 0, since = NULL, reason = NULL, bot_removed = FALSE
     WHERE guild_id = ANY($1::text[]) AND bot_removed`,
    guildIds,
  );
}
