import type { Database } from 'better-sqlite3';
import type { Notice } from '../../domain/batch.ts';

/** Freezes notices as messages, within the caller's transaction. */
export function noticeWriter(db: Database) {
  const addChannel = db.prepare<[string, string]>(
    'INSERT INTO channels (channel_id, guild_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const insert = db.prepare(
    `INSERT INTO batches (channel_id, kind, about_channel_id, nonce, reference, payload, state, unsure, frozen_at)
     VALUES (@channelId, 'notice', @aboutChannelId, @nonce, @reference, @payload, 'frozen', 0, @now)`,
  );
  const drop = db.prepare<[string]>(
    "DELETE FROM batches WHERE kind = 'notice' AND state = 'frozen' AND unsure = 0 AND about_channel_id = ?",
  );
  const admin = db.prepare<[string, string], { channelId: string }>(
    `SELECT default_channel AS channelId FROM guilds LEFT JOIN channels c ON c.channel_id = default_channel
     WHERE guilds.guild_id = ? AND default_channel <> ? AND coalesce(c.state, 'ready') = 'ready'`,
  );
  const other = db.prepare<[string, string], { channelId: string }>(
    `SELECT s.channel_id AS channelId FROM subscriptions s LEFT JOIN channels c USING (channel_id)
     WHERE s.guild_id = ? AND s.channel_id <> ? AND coalesce(c.state, 'ready') = 'ready'
     ORDER BY c.channel_id IS NULL, s.id LIMIT 1`,
  );

  return {
    /** Where a guild's admins are notified of trouble in a channel: their default channel, or another one in use. */
    channelFor: (guildId: string, troubled: string): string | null =>
      (admin.get(guildId, troubled) ?? other.get(guildId, troubled))?.channelId ?? null,
    write({ guildId, ...notice }: Notice): void {
      addChannel.run(notice.channelId, guildId);
      insert.run(notice);
    },
    /** The channel can be written to again: drops unsent notices about it. */
    withdraw: (closed: string): void => void drop.run(closed),
  };
}
