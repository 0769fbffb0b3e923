import type { Notice } from '../../domain/batch.ts';
import { channelForNotices, type UsedChannel } from '../../domain/channel.ts';
import type { Statements } from './connection.ts';

/** Stores the guilds of new channels. */
export async function addChannels(sql: Statements, channels: ReadonlyMap<string, string>): Promise<void> {
  if (channels.size === 0) return;
  await sql.run(
    `INSERT INTO channels (channel_id, guild_id) SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING`,
    [...channels.keys()],
    [...channels.values()],
  );
}

/** Freezes a notice as a message. */
export async function writeNotice(sql: Statements, notice: Notice): Promise<void> {
  const { guildId, channelId, aboutChannelId, nonce, reference, payload, now } = notice;
  await addChannels(sql, new Map([[channelId, guildId]]));
  await sql.run(
    `INSERT INTO batches (channel_id, kind, about_channel_id, nonce, reference, payload, state, unconfirmed, frozen_at)
     VALUES ($1, 'notice', $2, $3, $4, $5, 'frozen', FALSE, $6)`,
    channelId,
    aboutChannelId,
    nonce,
    reference,
    payload,
    now,
  );
}

/** Drops unsent notices about a channel that is no longer blocked. */
export async function withdrawNotices(sql: Statements, channelId: string): Promise<void> {
  await sql.run(
    "DELETE FROM batches WHERE kind = 'notice' AND state = 'frozen' AND NOT unconfirmed AND about_channel_id = $1",
    channelId,
  );
}

/** Where a guild's admins are notified of trouble in a channel. */
export async function placeForNotices(sql: Statements, guildId: string, troubledId: string): Promise<string | null> {
  const chosen = await sql.get<UsedChannel>(
    `SELECT default_channel AS "channelId", state FROM guilds LEFT JOIN channels ON channel_id = default_channel
     WHERE guilds.guild_id = $1 AND default_channel IS NOT NULL`,
    guildId,
  );
  const used = await sql.all<UsedChannel>(
    `SELECT channel_id AS "channelId", state FROM subscriptions s LEFT JOIN channels USING (channel_id)
     WHERE s.guild_id = $1 ORDER BY s.id`,
    guildId,
  );
  return channelForNotices(troubledId, { chosen: chosen ?? null, used });
}
