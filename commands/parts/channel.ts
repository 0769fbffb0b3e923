import {
  type APIInteractionDataResolvedChannel,
  ChannelType,
  type Guild,
  type GuildBasedChannel,
  GuildMember,
  PermissionFlagsBits,
  type PermissionsBitField,
} from 'discord.js';
import type { ButtonUse, CommandUse, MenuUse, MessageUse } from '../../src/discord/command.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';

/** Where alerts can go. */
export const TARGET_TYPES = [
  ChannelType.GuildText,
  ChannelType.GuildAnnouncement,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
  ChannelType.AnnouncementThread,
] as const;

const NO_MESSAGES: ChannelType[] = [ChannelType.GuildCategory, ChannelType.GuildForum, ChannelType.GuildMedia];

/**
 * Checks that alerts can go to a channel and that the person may see it; throws a {@link UserError} with the fix. Only
 * what is known counts against a channel: Discord does not tell everything about every channel.
 */
export function checkTarget(
  interaction: CommandUse | ButtonUse | MenuUse | MessageUse,
  channelId: string,
  picked: APIInteractionDataResolvedChannel | GuildBasedChannel | null,
  t: Translate,
): void {
  const known = interaction.client.channels.cache.get(channelId);
  if (known && (known.isDMBased() || known.guildId !== interaction.guildId)) {
    throw new UserError(t('channel.foreign'));
  }
  const type = known?.type ?? picked?.type;
  if (type !== undefined && NO_MESSAGES.includes(type)) {
    throw new UserError(t('channel.noMessages', { channel: `<#${channelId}>` }));
  }
  const { guild, member } = interaction;
  if (known && guild && member instanceof GuildMember && hasRoles(guild)) {
    if (known.permissionsFor(member)?.has(PermissionFlagsBits.ViewChannel) === false) {
      throw new UserError(t('channel.hidden'));
    }
  }
  const own = channelId === interaction.channelId ? interaction.appPermissions : null;
  const missing = missingIn(guild, channelId, own, t);
  if (missing.length > 0) {
    throw new UserError(t('channel.cannotPost', { channel: `<#${channelId}>`, permissions: missing.join('**, **') }));
  }
}

/** What alerts need now and then: for the list behind a long digest, and to find a message whose answer got lost. */
export const ALERT_EXTRAS = ['AttachFiles', 'ReadMessageHistory'] as const;

/** The permissions that alerts need, and `more` of them, and the bot is known to lack in a channel, by their names in Discord. */
export function missingIn(
  guild: Guild | null,
  channelId: string,
  own: Readonly<PermissionsBitField> | null,
  t: Translate,
  more: readonly (typeof ALERT_EXTRAS)[number][] = [],
): string[] {
  const channel = guild?.channels.cache.get(channelId);
  // Some clients leave out the bot's permissions; nothing at all is more likely unknown than true.
  const permissions = own && own.bitfield !== 0n ? own : ownPermissions(guild, channel);
  if (!permissions) return [];
  const send = channel?.isThread() ? ('SendMessagesInThreads' as const) : ('SendMessages' as const);
  return (['ViewChannel', send, 'EmbedLinks', ...more] as const)
    .filter((name) => !permissions.has(PermissionFlagsBits[name]))
    .map((name) => t(`channel.permission.${name}`));
}

function ownPermissions(guild: Guild | null, channel: GuildBasedChannel | undefined) {
  const me = guild?.members.me;
  if (!guild || !channel || !me || !hasRoles(guild) || me.permissions.bitfield === 0n) return null;
  return channel.permissionsFor(me);
}

const hasRoles = (guild: Guild) => guild.roles.cache.has(guild.id);

/** Who asks, and from where. */
interface Asker {
  guild: Guild | null;
  member: unknown;
  channelId: string | null;
}

/** Whether the person is known not to see a channel, or not known to be in a private thread. */
export function isHidden({ guild, member, channelId: here }: Asker, channelId: string): boolean {
  // Announced, but not told of yet, as for moments after a start: nothing is known of it.
  if (guild && !guild.available && (guild.name as string | undefined) === undefined) return true;
  const channel = guild?.channels.cache.get(channelId);
  if (!guild || !channel || !(member instanceof GuildMember) || !hasRoles(guild)) return false;
  const permissions = channel.permissionsFor(member);
  if (permissions?.has(PermissionFlagsBits.ViewChannel) === false) return true;
  // Who is in one is not told to the bot; who asks there is.
  const isPrivate = channel.type === ChannelType.PrivateThread && channelId !== here;
  return isPrivate && permissions?.has(PermissionFlagsBits.ManageThreads) === false;
}

/** Whether a channel is not there, for all that is known; closed threads are not told of either. */
export function isGone({ guild, channelId: here }: Omit<Asker, 'member'>, channelId: string): boolean {
  return guild !== null && hasRoles(guild) && channelId !== here && !guild.channels.cache.has(channelId);
}
