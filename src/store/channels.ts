import type { Database } from 'better-sqlite3';
import { type Notice, noticeWriter } from './notices.ts';

/** Whether a channel can be written to: `parked` may not now (403), `paused` is gone (404). */
export type ChannelState = 'ready' | 'parked' | 'paused';

/** A channel with something to send. */
export interface ChannelHead {
  channelId: string;
  guildId: string;
  state: ChannelState;
  dueAt: number;
  attempts: number;
  since: number | null;
}

/** Why the channels of a server are paused that removed the bot; with a code it is Discord's own answer. */
const REMOVED = 'channel or server is gone';

/** How channels stand, and what people are told of it. */
export function channelStates(db: Database) {
  const notices = noticeWriter(db);
  const setChannel = db.prepare<Omit<ChannelHead, 'guildId'> & { reason: string | null }>(
    `UPDATE channels SET state = @state, due_at = @dueAt, attempts = @attempts, since = @since, reason = @reason
     WHERE channel_id = @channelId`,
  );
  const pauseGuild = db.prepare<[number, number, string, string]>(
    `UPDATE channels SET state = 'paused', due_at = ?, attempts = 0, since = ?, reason = ?
     WHERE guild_id = ? AND state <> 'paused'`,
  );
  const resumeGuild = db.prepare<[string, string]>(
    `UPDATE channels SET state = 'ready', due_at = 0, attempts = 0, since = NULL, reason = NULL
     WHERE guild_id = ? AND state = 'paused' AND reason = ?`,
  );
  const troubled = db.prepare<[string], { channelId: string; state: ChannelState; reason: string | null }>(
    "SELECT channel_id AS channelId, state, reason FROM channels WHERE guild_id = ? AND state <> 'ready'",
  );

  const setState = db.transaction((head: Parameters<typeof setChannel.run>[0], notice: Notice | null) => {
    setChannel.run(head);
    if (notice) notices.write(notice);
    if (head.state === 'ready') notices.withdraw(head.channelId);
  });
  const notice = db.transaction((given: Notice) => notices.write(given));

  return {
    /** Notes how a channel stands, and freezes what is to be told of it elsewhere. */
    setChannel: (head: Omit<ChannelHead, 'guildId'> & { reason: string | null }, told: Notice | null = null): void =>
      setState.immediate(head, told),
    /** The bot was removed from a guild: what waits there is kept as where a channel is gone, also by a later process. */
    pauseGuild: (guildId: string, now: number, dueAt: number): void =>
      void pauseGuild.run(dueAt, now, REMOVED, guildId),
    /** The bot is in a guild, also if it was removed before. */
    resumeGuild: (guildId: string): void => void resumeGuild.run(guildId, REMOVED),
    /** Where a server's people are told of trouble in a channel; null where there is no other channel. */
    channelForNotices: (guildId: string, troubledId: string) => notices.channelFor(guildId, troubledId),
    /** Freezes a message that tells of no transfer; nudge the deliverer for its channel afterwards. */
    notice: (given: Notice): void => notice.immediate(given),
    /** A guild's channels that cannot be written to. */
    troubled: (guildId: string) => troubled.all(guildId),
  };
}
