import {
  ChannelType,
  DiscordAPIError,
  type Guild,
  type GuildBasedChannel,
  GuildMember,
  PermissionFlagsBits,
  type PermissionsBitField,
  RESTJSONErrorCodes,
} from 'discord.js';
import { MINUTE } from '../../src/domain/clock.ts';
import type { ContextWith } from './services.ts';

/** Whether the gateway has told of a guild's roles, without which no permission can be worked out. */
export const hasRoles = (guild: Guild) => guild.roles.cache.has(guild.id);

/** What Discord says of a channel; undefined when it did not say. */
export type Answer = GuildBasedChannel | 'gone' | 'hidden' | undefined;

/** Channels that Discord is asked about at once, because the gateway did not tell of them. */
const ASK_MOST = 10;

/**
 * Discord counts each refusal, and bans the bot everywhere for too many. So of a guild's channels that are hidden from
 * the bot it asks about so many within this time, however often people want to know.
 */
const HIDDEN_MOST = 20;
const HIDDEN_MS = 2 * MINUTE;

/**
 * What Discord said of a guild's channels. `hidden`, and `inside` of private threads that the bot is in: until when that
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
 * The gateway tells of all channels but closed threads, and the library keeps to itself that the bot was taken out of a
 * private one; about those Discord is asked, ten at a time.
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

/** What a refusal of Discord's says of a channel; null when it says nothing of it. */
export function readFailure(error: unknown): 'gone' | 'hidden' | null {
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
  { manages, now }: Pick<ContextWith<'now'>, 'manages' | 'now'>,
): Promise<ReadonlySet<string>> {
  if (asker.memberPermissions?.has(PermissionFlagsBits.ManageGuild)) return new Set();
  const { guild, channelId: here } = asker;
  const ids = [...new Set(channelIds)];
  // A guild that has the commands but not the bot: Discord tells nothing of its channels.
  if (!guild) return new Set(manages ? [] : ids.filter((id) => id !== here));
  const absent = ids.filter((id) => isGone(asker, id));
  const answers = manages ? await askAbout(guild, absent, now()) : new Map<string, Answer>();
  const unseen = absent.filter((id) => typeof answers.get(id) !== 'object' && answers.get(id) !== 'gone');
  return new Set([...unseen, ...ids.filter((id) => isHidden(guild, asker, id))]);
}

/** Whether the person is known not to see a channel, or not known to be in a private thread. */
function isHidden(guild: Guild, { member, channelId: here }: Asker, channelId: string): boolean {
  // Announced, but not told of yet, as for moments after a start: nothing is known of it.
  if (!guild.available && (guild.name as string | undefined) === undefined) return true;
  const channel = guild.channels.cache.get(channelId);
  if (channelId === here || !channel || !(member instanceof GuildMember) || !hasRoles(guild)) return false;
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
