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

/** What one of the bot's connections has of its guilds: it is the `index`th of so many. */
export type GuildShare = readonly [index: number, of: number];
