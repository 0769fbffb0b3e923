import { ChannelType, type Guild, GuildMember, PermissionFlagsBits, type PermissionsBitField } from 'discord.js';
import type { AutocompleteUse, Use } from '../../src/discord/command.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { FoundChannel } from './guild-channels.ts';
import type { Context } from './services.ts';

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

/** A person's permissions in the interaction's channel; null outside a guild. */
interface Permitted {
  memberPermissions: Readonly<PermissionsBitField> | null;
}

/** Whether the person has Manage Server; the manager role does not count. */
export const hasManageServer = ({ memberPermissions }: Permitted): boolean =>
  memberPermissions?.has(PermissionFlagsBits.ManageGuild) === true;

/** Throws a {@link UserError} unless the person has Manage Server: the manager role is not enough for everything. */
export function requireManageServer(person: Permitted, t: Translate): void {
  if (!hasManageServer(person)) throw new UserError(t('reply.manageServerOnly'));
}

/** The guild's subscriptions: those in channels that the person is known to see, and the others. */
export async function seenBy(
  interaction: Use | AutocompleteUse,
  context: Context,
): Promise<{ visible: Subscription[]; unseen: Subscription[] }> {
  const all = await context.subscriptions.list(interaction.guildId);
  const channels = all.map(({ channelId }) => channelId);
  const hidden = await hiddenFrom(interaction, channels, context);
  return {
    visible: all.filter(({ channelId }) => !hidden.has(channelId)),
    unseen: all.filter(({ channelId }) => hidden.has(channelId)),
  };
}

/** A line about subscriptions that are omitted because the person does not see their channels; null: none. */
export function unseenLine({ length: count }: readonly Subscription[], t: Translate): string | null {
  return count === 0 ? null : t('subscription.unseen', { count });
}

/** The guild's subscriptions in channels that this person is known to see. */
export async function visibleTo(interaction: Use | AutocompleteUse, context: Context): Promise<Subscription[]> {
  return (await seenBy(interaction, context)).visible;
}
