import {
  type APIInteractionDataResolvedChannel,
  ChannelType,
  DiscordAPIError,
  type Guild,
  type GuildBasedChannel,
  GuildMember,
  PermissionFlagsBits,
  type PermissionsBitField,
  RESTJSONErrorCodes,
} from 'discord.js';
import type { ButtonUse, CommandContext, CommandUse, MenuUse, MessageUse } from '../../src/discord/command.ts';
import { MINUTE } from '../../src/domain/clock.ts';
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
 * Checks that alerts can go to a channel and that the person may see it; throws a {@link UserError} with the fix.
 * Discord is asked about channels of which the gateway does not tell, such as private threads without the bot.
 */
export async function checkTarget(
  ...[interaction, channelId, picked, t]: Parameters<typeof checkKnown>
): Promise<void> {
  checkKnown(interaction, channelId, picked, t);
  const { guild } = interaction;
  const known = guild?.channels.cache.get(channelId);
  // A private thread that came with the command is in the library's cache, even if the bot is not in it.
  if (!guild || !hasRoles(guild) || (known && known.type !== ChannelType.PrivateThread)) return;
  const answer = await guild.channels.fetch(channelId, { force: true }).catch(readFailure);
  if (answer === 'hidden') throw new UserError(t('channel.private', { channel: `<#${channelId}>` }));
}

/** The same by what is known, without asking Discord; what is not known does not count against a channel. */
export function checkKnown(
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
  if (isLocked(guild, known)) throw new UserError(t('channel.locked', { channel: `<#${channelId}>` }));
  if (known && guild && member instanceof GuildMember && hasRoles(guild)) {
    if (known.permissionsFor(member)?.has(PermissionFlagsBits.ViewChannel) === false) {
      throw new UserError(t('channel.hidden'));
    }
  }
  const own = channelId === interaction.channelId ? interaction.appPermissions : null;
  const missing = missingIn(guild, channelId, own, t);
  if (missing.length > 0) {
    throw new UserError(
      t('channel.cannotPost', { channel: `<#${channelId}>`, permissions: missing.join(`**${t('reply.comma')}**`) }),
    );
  }
}

/** What alerts need now and then: to attach a long digest's list, and to find a message whose answer got lost. */
export const ALERT_EXTRAS = ['AttachFiles', 'ReadMessageHistory'] as const;

/** The permissions that the bot is known to lack in a channel, of those that alerts and `more` need; by their names. */
export function missingIn(
  guild: Guild | null,
  channelId: string,
  own: Readonly<PermissionsBitField> | null,
  t: Translate,
  more: readonly (typeof ALERT_EXTRAS)[number][] = [],
): string[] {
  const channel = guild?.channels.cache.get(channelId);
  // Some relays leave the bot's permissions out: none at all more likely means that they are not known.
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

/** Whether a thread is known to be locked for the bot: then only who manages threads may write there. */
export function isLocked(guild: Guild | null, channel: GuildBasedChannel | undefined): boolean {
  if (!channel?.isThread() || !channel.locked) return false;
  return ownPermissions(guild, channel)?.has(PermissionFlagsBits.ManageThreads) === false;
}

const hasRoles = (guild: Guild) => guild.roles.cache.has(guild.id);

/** What Discord says of a channel; undefined when it did not say. */
export type Answer = GuildBasedChannel | 'gone' | 'hidden' | undefined;

/** Channels that Discord is asked about at once, because the gateway did not tell of them. */
const ASK_MOST = 10;

/**
 * Discord counts each refusal, and bans the bot everywhere for too many. So of a server's channels that are hidden from
 * the bot it asks about so many within this time, however often people want to know.
 */
const HIDDEN_MOST = 20;
const HIDDEN_MS = 2 * MINUTE;

/**
 * What Discord said of a server's channels. `hidden`, and `inside` of private threads that the bot is in: until when that
 * holds; `asking`: what it is asked now.
 */
interface Said {
  gone: Set<string>;
  hidden: Map<string, number>;
  inside: Map<string, number>;
  asking: Map<string, Promise<void>>;
}

/** Ids are never given again: what was found gone stays so. */
const said = new WeakMap<Guild, Said>();

/**
 * The gateway tells of all channels but closed threads, and not that the bot was taken out of a private one; about those
 * Discord is asked, ten at a time.
 */
export async function askAbout(guild: Guild, ids: readonly string[], now: number): Promise<Map<string, Answer>> {
  const before: Said = said.get(guild) ?? { gone: new Set(), hidden: new Map(), inside: new Map(), asking: new Map() };
  said.set(guild, before);
  const { gone, hidden, inside, asking } = before;
  for (const held of [hidden, inside]) for (const [id, until] of held) if (until <= now) held.delete(id);
  const known = (id: string): Answer =>
    guild.channels.cache.get(id) ?? (gone.has(id) ? 'gone' : hidden.has(id) ? 'hidden' : undefined);
  async function ask(id: string): Promise<void> {
    const answer = await guild.channels.fetch(id, { force: true }).catch(readFailure);
    if (answer === 'gone') gone.add(id);
    else if (answer === 'hidden') hidden.set(id, now + HIDDEN_MS);
    else if (answer !== null) inside.set(id, now + HIDDEN_MS);
    // As after a restart: the gateway tells of it again when the bot is let in.
    if (typeof answer === 'string') for (const { cache } of [guild.channels, guild.client.channels]) cache.delete(id);
    asking.delete(id);
  }
  const isUnknown = (id: string): boolean => {
    const channel = known(id);
    if (typeof channel === 'object') return channel.type === ChannelType.PrivateThread && !inside.has(id);
    return channel === undefined;
  };
  const unknown = ids.filter(isUnknown);
  const room = Math.min(ASK_MOST, HIDDEN_MOST - hidden.size - asking.size);
  for (const id of unknown.filter((id) => !asking.has(id)).slice(0, Math.max(0, room))) asking.set(id, ask(id));
  await Promise.all(unknown.flatMap((id) => asking.get(id) ?? []));
  return new Map(ids.map((id) => [id, known(id)]));
}

function readFailure(error: unknown): 'gone' | 'hidden' | null {
  if (!(error instanceof DiscordAPIError)) return null;
  if (error.code === RESTJSONErrorCodes.UnknownChannel) return 'gone';
  return error.code === RESTJSONErrorCodes.MissingAccess ? 'hidden' : null;
}

/** Who asks, and from where. */
export interface Asker {
  guild: Guild | null;
  member: unknown;
  memberPermissions: Readonly<PermissionsBitField> | null;
  channelId: string | null;
}

/**
 * Those of the channels that the person is not known to see; Manage Server sees all. Of a channel that is gone nobody
 * knows any more who could see it: it is shown to those who manage the bot, because they can mend that.
 */
export async function hiddenFrom(
  asker: Asker,
  channelIds: Iterable<string>,
  { manages, now }: Pick<CommandContext, 'manages' | 'now'>,
): Promise<ReadonlySet<string>> {
  if (asker.memberPermissions?.has(PermissionFlagsBits.ManageGuild)) return new Set();
  const ids = [...new Set(channelIds)];
  const absent = ids.filter((id) => isGone(asker, id));
  const answers = asker.guild && manages ? await askAbout(asker.guild, absent, now()) : new Map<string, Answer>();
  const unseen = absent.filter((id) => typeof answers.get(id) !== 'object' && answers.get(id) !== 'gone');
  return new Set([...unseen, ...ids.filter((id) => isHidden(asker, id))]);
}

/** Whether the person is known not to see a channel, or not known to be in a private thread. */
function isHidden({ guild, member, channelId: here }: Asker, channelId: string): boolean {
  // Announced, but not told of yet, as for moments after a start: nothing is known of it.
  if (guild && !guild.available && (guild.name as string | undefined) === undefined) return true;
  const channel = guild?.channels.cache.get(channelId);
  if (channelId === here || !guild || !channel || !(member instanceof GuildMember) || !hasRoles(guild)) return false;
  const permissions = channel.permissionsFor(member);
  // There are none in a thread of a channel that is not known.
  if (!permissions?.has(PermissionFlagsBits.ViewChannel)) return true;
  // Who is in one is not told to the bot.
  return channel.type === ChannelType.PrivateThread && !permissions.has(PermissionFlagsBits.ManageThreads);
}

/** Whether a channel is not there, for all that is known; closed threads are not told of either. */
export function isGone({ guild, channelId: here }: Pick<Asker, 'guild' | 'channelId'>, channelId: string): boolean {
  return guild !== null && hasRoles(guild) && channelId !== here && !guild.channels.cache.has(channelId);
}
