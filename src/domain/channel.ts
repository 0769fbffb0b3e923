/** Whether a channel can be written to: `parked` may not now (403), `unreachable` is gone (404). */
export type ChannelState = 'ready' | 'parked' | 'unreachable';

/** A channel with something to send. */
export interface ChannelHead {
  channelId: string;
  guildId: string;
  state: ChannelState;
  dueAt: number;
  attempts: number;
  since: number | null;
}

/** What people read as the reason while a channel is closed because its guild removed the bot. */
export const REMOVED = 'channel or server is gone';

/** The guilds of one of the bot's connections: shard `index` of `of` shards. */
export type GuildShare = readonly [index: number, of: number];

/** Whether a guild is in a share, by Discord's formula for shards. */
export const isInShare = ([index, of]: GuildShare, guildId: string): boolean =>
  of === 1 || (BigInt(guildId) >> 22n) % BigInt(of) === BigInt(index);
