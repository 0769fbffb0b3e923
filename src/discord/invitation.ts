import { PermissionsBitField } from 'discord.js';

/** What the bot uses, as its invitation asks for it. */
export const USED_PERMISSIONS = [
  'ViewChannel',
  'SendMessages',
  'SendMessagesInThreads',
  'EmbedLinks',
  'AttachFiles',
  'ReadMessageHistory',
  'UseApplicationCommands',
] as const;

/** The link by which an admin adds the bot to a server, or to the one that is named. */
export function invitation(applicationId: string, guildId?: string): string {
  // Not the library's own address: that begins with DISCORD_API_URL, which people may be unable to reach.
  const query = new URLSearchParams({
    client_id: applicationId,
    scope: 'bot applications.commands',
    permissions: String(PermissionsBitField.resolve(USED_PERMISSIONS)),
    ...(guildId !== undefined && { guild_id: guildId }),
  });
  return `https://discord.com/oauth2/authorize?${query.toString()}`;
}
