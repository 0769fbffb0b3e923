import {
  type APIInteractionDataResolvedChannel,
  ChannelType,
  type Guild,
  type GuildBasedChannel,
  GuildMember,
  PermissionFlagsBits,
  type PermissionsBitField,
} from 'discord.js';
import { invitation } from '../../src/discord/register.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { type FoundChannel, readFailure } from './guild-channels.ts';
import type { Context } from './services.ts';

export const TARGET_TYPES = [
  ChannelType.GuildText,
  ChannelType.GuildAnnouncement,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
  ChannelType.AnnouncementThread,
] as const;

export type PickedChannel = APIInteractionDataResolvedChannel | GuildBasedChannel | null;

const NO_MESSAGES: ChannelType[] = [ChannelType.GuildCategory, ChannelType.GuildForum, ChannelType.GuildMedia];

/** Throws a {@link UserError} with the fix. Asks Discord about what the gateway does not report: private threads. */
export async function checkTarget(
  channelId: string,
  picked: PickedChannel,
  context: Context,
  isForum = false,
): Promise<void> {
  checkKnown(channelId, picked, context, isForum);
  const { t, guildChannels } = context;
  const { guild } = context.interaction;
  const known = guild?.channels.cache.get(channelId);
  // The library caches a private thread that came with the command, even if the bot is not in it.
  if (!guild || !hasRoles(guild) || (known && known.type !== ChannelType.PrivateThread)) return;
  const fetch = () => guild.channels.fetch(channelId, { force: true });
  const response = await guildChannels.request(guild, fetch, () => null).catch(readFailure);
  if (response === 'hidden') throw new UserError(t('channel.private', { channel: `<#${channelId}>` }));
}

/** Checks a channel by what is known, without asking Discord; unknown facts do not count against it. */
export function checkKnown(channelId: string, picked: PickedChannel, context: Context, isForum = false): void {
  const { interaction, t } = context;
  const channel = `<#${channelId}>`;
  const known = interaction.client.channels.cache.get(channelId);
  if (known && (known.isDMBased() || known.guildId !== interaction.guildId)) {
    throw new UserError(t('channel.foreign', { channel }));
  }
  const type = known?.type ?? picked?.type;
  if (!isForum && type !== undefined && NO_MESSAGES.includes(type)) {
    throw new UserError(t('channel.noMessages', { channel }));
  }
  const { guild, member } = interaction;
  if (isLocked(guild, known)) throw new UserError(t('channel.locked', { channel }));
  if (known && guild && member instanceof GuildMember && hasRoles(guild)) {
    const permissions = known.permissionsFor(member);
    if (permissions?.has(PermissionFlagsBits.ViewChannel) === false)
      throw new UserError(t('channel.hidden', { channel }));
  }
  const own = channelId === interaction.channelId ? interaction.appPermissions : null;
  const missing = missingIn(guild, channelId, own, t);
  if (missing.length > 0) {
    const permissions = missing.join(`**${t('reply.comma')}**`);
    throw new UserError(t('channel.cannotPost', { channel, permissions }));
  }
}

/** Throws, with the fault that {@link checkKnown} finds if there is one. */
export function refuseUnseen(channelId: string, picked: PickedChannel, context: Context): never {
  checkKnown(channelId, picked, context);
  throw new UserError(context.t('channel.unsure', { channel: `<#${channelId}>` }));
}

/** For a guild that has the bot's commands but not the bot. */
export function outsideLine({ interaction, t }: Context): string {
  return t('channel.notMember', { url: invitation(interaction.applicationId, interaction.guildId) });
}

/** Permissions that alerts sometimes need: to attach a digest's list, and to find a message after a lost response. */
export const ALERT_EXTRAS = ['AttachFiles', 'ReadMessageHistory'] as const;

/** The names of the permissions for alerts and `more` that the bot is known to lack in a channel. */
export function missingIn(
  guild: Guild | null,
  channelId: string,
  own: Readonly<PermissionsBitField> | null,
  t: Translate,
  more: readonly (typeof ALERT_EXTRAS)[number][] = [],
): string[] {
  const channel = guild?.channels.cache.get(channelId);
  // Some proxies omit the bot's permissions, so no permissions at all means that they are unknown.
  const permissions = own && own.bitfield !== 0n ? own : ownPermissions(guild, channel);
  if (!permissions) return [];
  const isForum = channel?.type === ChannelType.GuildForum;
  const send = [
    ...(channel?.isThread() ? [] : ['SendMessages' as const]),
    ...(channel?.isThread() || isForum ? ['SendMessagesInThreads' as const] : []),
  ];
  return (['ViewChannel', ...send, 'EmbedLinks', ...more] as const)
    .filter((name) => !permissions.has(PermissionFlagsBits[name]))
    .map((name) => t(`channel.permission.${name}`));
}

function ownPermissions(guild: Guild | null, channel: GuildBasedChannel | undefined) {
  const me = guild?.members.me;
  if (!guild || !channel || !me || !hasRoles(guild) || me.permissions.bitfield === 0n) return null;
  return channel.permissionsFor(me);
}

/** Whether a thread is known to be locked, so that only members who manage threads may write there. */
export function isLocked(guild: Guild | null, channel: GuildBasedChannel | undefined): boolean {
  if (!channel?.isThread() || !channel.locked) return false;
  return ownPermissions(guild, channel)?.has(PermissionFlagsBits.ManageThreads) === false;
}

/** Whether the guild's roles have arrived, which every permission depends on. */
const hasRoles = (guild: Guild) => guild.roles.cache.has(guild.id);

export interface Asker {
  guild: Guild | null;
  member: unknown;
  memberPermissions: Readonly<PermissionsBitField> | null;
  channelId: string | null;
}

/** Empty with Manage Server. People who manage the bot see deleted channels, too, to fix their subscriptions. */
export async function hiddenFrom(
  asker: Asker,
  channelIds: Iterable<string>,
  { manages, guildChannels }: Pick<Context, 'manages' | 'guildChannels'>,
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

/** A place without a channel is everybody's. */
export async function sightOf<Place extends { channelId: string | null }>(
  places: Iterable<Place>,
  context: Context,
): Promise<(place: { channelId: string | null }) => boolean> {
  const channels = [...places].flatMap(({ channelId }) => channelId ?? []);
  const hidden = await hiddenFrom(context.interaction, channels, context);
  return ({ channelId }) => channelId === null || !hidden.has(channelId);
}

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

type Permitted = Pick<Asker, 'memberPermissions'>;

/** Whether the person has Manage Server; the manager role does not count. */
export const hasManageServer = ({ memberPermissions }: Permitted): boolean =>
  memberPermissions?.has(PermissionFlagsBits.ManageGuild) === true;

export function requireManageServer(person: Permitted, t: Translate): void {
  if (!hasManageServer(person)) throw new UserError(t('reply.manageServerOnly'));
}

export async function seenBy(context: Context): Promise<{ visible: Subscription[]; unseen: Subscription[] }> {
  const all = await context.subscriptions.list(context.guildId);
  const isSeen = await sightOf(all, context);
  return { visible: all.filter(isSeen), unseen: all.filter((entry) => !isSeen(entry)) };
}

export function unseenLine({ length: count }: readonly Subscription[], t: Translate): string | null {
  return count === 0 ? null : t('subscription.unseen', { count });
}

export async function visibleTo(context: Context): Promise<Subscription[]> {
  return (await seenBy(context)).visible;
}
