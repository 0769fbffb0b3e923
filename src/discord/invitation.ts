import { PermissionsBitField } from 'discord.js';

/** The permissions that the bot's invitation requests. */
const USED_PERMISSIONS = [
  'ViewChannel',
  'SendMessages',
  'SendMessagesInThreads',
  'EmbedLinks',
  'AttachFiles',
  'ReadMessageHistory',
  'UseApplicationCommands',
] as const;

/** The link with which an admin adds the bot to a server, or to the given one. */
export function invitation(applicationId: string, guildId?: string): string {
  // Not from the library: its link begins with DISCORD_API_URL, which people may be unable to reach.
  const query = new URLSearchParams({
    client_id: applicationId,
    scope: 'bot applications.commands',
    permissions: String(PermissionsBitField.resolve(USED_PERMISSIONS)),
    ...(guildId !== undefined && { guild_id: guildId }),
  });
  return `https://discord.com/oauth2/authorize?${query.toString()}`;
}
