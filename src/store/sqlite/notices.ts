import type { Database } from 'better-sqlite3';
import type { Notice } from '../../domain/batch.ts';
import { channelForNotices, type UsedChannel } from '../../domain/channel.ts';

/** Freezes notices as messages, within the caller's transaction. */
export function noticeWriter(db: Database) {
  const addChannel = db.prepare<[string, string]>(
    'INSERT INTO channels (channel_id, guild_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const insert = db.prepare(
    `INSERT INTO batches (channel_id, kind, about_channel_id, nonce, reference, payload, state, unconfirmed, frozen_at)
     VALUES (@channelId, 'notice', @aboutChannelId, @nonce, @reference, @payload, 'frozen', 0, @now)`,
  );
  const drop = db.prepare<[string]>(
    "DELETE FROM batches WHERE kind = 'notice' AND state = 'frozen' AND unconfirmed = 0 AND about_channel_id = ?",
  );
  const chosen = db.prepare<[string], UsedChannel>(
    `SELECT default_channel AS channelId, state FROM guilds LEFT JOIN channels ON channel_id = default_channel
     WHERE guilds.guild_id = ? AND default_channel IS NOT NULL`,
  );
  const used = db.prepare<[string], UsedChannel>(
    `SELECT channel_id AS channelId, state FROM subscriptions s LEFT JOIN channels USING (channel_id)
     WHERE s.guild_id = ? ORDER BY s.id`,
  );

  return {
    channelFor: (guildId: string, troubledId: string): string | null =>
      channelForNotices(troubledId, { chosen: chosen.get(guildId) ?? null, used: used.all(guildId) }),
    write({ guildId, ...notice }: Notice): void {
      addChannel.run(notice.channelId, guildId);
      insert.run(notice);
    },
    /** Drops unsent notices about a channel that is no longer blocked. */
    withdraw: (aboutChannelId: string): void => void drop.run(aboutChannelId),
  };
}
