/** Without discord.js, because the page uses it, too. */
import { ChannelType } from 'discord-api-types/v10';

const THREADS: readonly number[] = [
  ChannelType.AnnouncementThread,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
];
const WITH_MESSAGES: readonly number[] = [
  ChannelType.GuildText,
  ChannelType.DM,
  ChannelType.GuildAnnouncement,
  ChannelType.GuildVoice,
  ChannelType.GuildStageVoice,
  ...THREADS,
];

export const isThread = (channel: { type: number }): boolean => THREADS.includes(channel.type);
export const holdsMessages = (channel: { type: number }): boolean => WITH_MESSAGES.includes(channel.type);
