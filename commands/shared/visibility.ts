import { ChannelType, type Guild, GuildMember, PermissionFlagsBits, type PermissionsBitField } from 'discord.js';
import type { FoundChannel } from './guild-channels.ts';
import { hasManageServer } from './rights.ts';
import type { ContextWith } from './services.ts';

/** Whether the guild's roles have arrived, which every permission depends on. */
export const hasRoles = (guild: Guild) => guild.roles.cache.has(guild.id);

/** The person and the channel of an interaction. */
export interface Asker {
  guild: Guild | null;
  member: unknown;
  memberPermissions: Readonly<PermissionsBitField> | null;
  channelId: string | null;
}

/**
 * The channels that the person is not known to see; with Manage Server, none. A deleted channel is shown to those who
 * manage the bot, because they can fix its subscriptions.
 */
export async function hiddenFrom(
  asker: Asker,
  channelIds: Iterable<string>,
  { manages, guildChannels }: Pick<ContextWith<'guildChannels'>, 'manages' | 'guildChannels'>,
): Promise<ReadonlySet<string>> {
  if (hasManageServer(asker)) return new Set();
  const { guild, channelId: here } = asker;
  const ids = [...new Set(channelIds)];
  // A guild that has the commands but not the bot: Discord reports nothing about its channels.
  if (!guild) return new Set(manages ? [] : ids.filter((id) => id !== here));
  const absent = ids.filter((id) => isGone(asker, id));
  const found = manages ? await guildChannels.find(guild, absent) : new Map<string, FoundChannel>();
  const unseen = absent.filter((id) => typeof found.get(id) !== 'object' && found.get(id) !== 'gone');
  return new Set([...unseen, ...ids.filter((id) => isHidden(guild, asker, id))]);
}

/** Whether the person is known not to see a channel, or not known to be in a private thread. */
function isHidden(guild: Guild, { member, channelId: here }: Asker, channelId: string): boolean {
  // Announced but not loaded yet, as just after a start: nothing is known about it.
  if (!guild.available && (guild.name as string | undefined) === undefined) return true;
  const channel = guild.channels.cache.get(channelId);
  if (channelId === here || !channel || !(member instanceof GuildMember) || !hasRoles(guild)) return false;
  const permissions = channel.permissionsFor(member);
  // A thread of an unknown channel has no permissions.
  if (!permissions?.has(PermissionFlagsBits.ViewChannel)) return true;
  // The bot does not know the members of a private thread.
  return channel.type === ChannelType.PrivateThread && !permissions.has(PermissionFlagsBits.ManageThreads);
}

/** Whether a channel seems not to exist; closed threads are not reported either. */
export function isGone({ guild, channelId: here }: Pick<Asker, 'guild' | 'channelId'>, channelId: string): boolean {
  return guild !== null && hasRoles(guild) && channelId !== here && !guild.channels.cache.has(channelId);
}
