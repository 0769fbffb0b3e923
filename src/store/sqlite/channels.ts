import type { Database } from 'better-sqlite3';
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
import { noticeWriter } from './notices.ts';

/**
 * The guilds with rows in a table. It skips from one guild to the next by the index instead of reading thousands of
 * rows.
 */
const guildsOf = (table: string): string =>
  `SELECT guild_id FROM (
     WITH RECURSIVE each (guild_id) AS (
       SELECT min(guild_id) FROM ${table}
       UNION ALL SELECT (SELECT min(guild_id) FROM ${table} WHERE guild_id > each.guild_id) FROM each
       WHERE guild_id IS NOT NULL)
     SELECT guild_id FROM each WHERE guild_id IS NOT NULL)`;

/** States of channels, and the notices about them. */
export function channelStates(db: Database) {
  const notices = noticeWriter(db);
  const setChannel = db.prepare<Omit<ChannelHead, 'guildId'> & { reason: string | null }>(
    `UPDATE channels SET state = @state, due_at = @dueAt, attempts = @attempts, since = @since, reason = @reason,
       bot_removed = 0
     WHERE channel_id = @channelId`,
  );
  const closeGuild = db.prepare<[number, number, string, string]>(
    `UPDATE channels SET state = 'unreachable', due_at = ?, attempts = 0, since = ?, reason = ?, bot_removed = 1
     WHERE guild_id = ? AND state <> 'unreachable'`,
  );
  const reopenGuild = db.prepare<[string]>(
    `UPDATE channels SET state = 'ready', due_at = 0, attempts = 0, since = NULL, reason = NULL, bot_removed = 0
     WHERE guild_id = ? AND bot_removed = 1`,
  );
  // A repeated report is about the same removal. It also corrects a time from a clock that was ahead.
  const recordRemoval = db.prepare<[string, number]>(
    `INSERT INTO guild_removals (guild_id, removed_at) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET removed_at = excluded.removed_at WHERE excluded.removed_at < removed_at`,
  );
  const deleteRemoval = db.prepare<[string]>('DELETE FROM guild_removals WHERE guild_id = ?');
  const postpone = db.prepare<[number, string]>('UPDATE guild_removals SET removed_at = ? WHERE guild_id = ?');
  const known = db.prepare<[], Omit<KnownGuild, 'removed'> & { removed: 0 | 1 }>(
    `SELECT guild_id AS guildId, EXISTS (SELECT 1 FROM guild_removals r WHERE r.guild_id = traces.guild_id) AS removed
     FROM (${TRACES.map(guildsOf).join(' UNION ')}) traces`,
  );
  const troubled = db.prepare<[string], { channelId: string; state: ChannelState; reason: string | null }>(
    "SELECT channel_id AS channelId, state, reason FROM channels WHERE guild_id = ? AND state <> 'ready'",
  );

  const setState = db.transaction((head: Parameters<typeof setChannel.run>[0], notice: Notice | null) => {
    setChannel.run(head);
    if (notice) notices.write(notice);
    if (head.state === 'ready') notices.withdraw(head.channelId);
  });
  const removed = db.transaction((guildId: string, now: number, dueAt: number): void => {
    recordRemoval.run(guildId, now);
    closeGuild.run(dueAt, now, GONE, guildId);
  });
  const returned = db.transaction((guildId: string): void => {
    deleteRemoval.run(guildId);
    reopenGuild.run(guildId);
  });
  const sync = db.transaction((present: ReadonlySet<string>, shard: Shard, now: number) => {
    const guilds = known.all().map(({ guildId, removed }) => ({ guildId, removed: removed === 1 }));
    const { gone, back } = compareGuilds(guilds, present, shard);
    // Discord's responses will show the state of their channels.
    for (const guildId of gone) recordRemoval.run(guildId, now);
    for (const guildId of back) returned(guildId);
    return { gone, back };
  });
  const notice = db.transaction((given: Notice) => notices.write(given));

  return {
    setState: (head: Omit<ChannelHead, 'guildId'> & { reason: string | null }, notice: Notice | null = null): void =>
      setState.immediate(head, notice),
    guildRemoved: (guildId: string, now: number, dueAt: number): void => removed.immediate(guildId, now, dueAt),
    guildReturned: (guildId: string): void => returned.immediate(guildId),
    syncGuilds: (present: ReadonlySet<string>, shard: Shard, now: number) => sync.immediate(present, shard, now),
    postponeErasure: (guildId: string, now: number): void => void postpone.run(now, guildId),
    channelForNotices: (guildId: string, troubledId: string) => notices.channelFor(guildId, troubledId),
    postNotice: (given: Notice): void => notice.immediate(given),
    blocked: (guildId: string) => troubled.all(guildId),
  };
}
