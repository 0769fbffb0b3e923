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
import { UserError } from '../../src/errors.ts';
import { ago } from './reply.ts';
import type { ContextWith } from './services.ts';

/** Whether the guild's roles have arrived, which every permission depends on. */
export const hasRoles = (guild: Guild) => guild.roles.cache.has(guild.id);

/** What Discord's response shows about a channel; undefined: nothing. */
export type Answer = GuildBasedChannel | 'gone' | 'hidden' | undefined;

/** Most simultaneous requests about channels that the gateway did not report. */
const ASK_MOST = 10;

/**
 * Limits the refused requests of people's commands, per guild and period, however often people ask: Discord counts each
 * refusal, and bans the bot everywhere for too many.
 */
const HIDDEN_MOST = 20;
const HIDDEN_MS = 2 * MINUTE;

/**
 * Discord's responses about a guild's channels. `hidden` channels, and private threads that the bot is `inside`: until
 * when that is valid; `asking`: requests in flight; `others`: how many requests of other kinds are; `refusedAt`: the latest
 * refusals.
 */
interface ChannelResponses {
  gone: Set<string>;
  hidden: Map<string, number>;
  inside: Map<string, number>;
  asking: Map<string, Promise<void>>;
  others: number;
  refusedAt: number[];
}

/** IDs are never reused: deleted channels stay deleted. */
const responses = new WeakMap<Guild, ChannelResponses>();

function responsesOf(guild: Guild): ChannelResponses {
  const known = responses.get(guild);
  if (known) return known;
  const channels = { gone: new Set<string>(), hidden: new Map(), inside: new Map(), asking: new Map() };
  const none: ChannelResponses = { ...channels, others: 0, refusedAt: [] };
  responses.set(guild, none);
  return none;
}

/** How many requests of people in this guild Discord may still refuse now. */
function refusalsLeft(guild: Guild, now: number): number {
  const known = responsesOf(guild);
  known.refusedAt = known.refusedAt.filter((at) => at > now - HIDDEN_MS);
  return HIDDEN_MOST - known.refusedAt.length - known.asking.size - known.others;
}

/** Throws a {@link UserError}: Discord refused too many requests of the guild. */
export function tooManyRefusals({ t, now }: ContextWith<'now'>): never {
  throw new UserError(t('failure.refused', { due: ago(now() + HIDDEN_MS) }));
}

/** Makes a request that Discord may refuse, unless it refused too many of this guild; `otherwise`: what then follows. */
export async function withinRefusals<Result>(
  guild: Guild,
  now: number,
  request: () => Promise<Result>,
  otherwise: () => Result,
): Promise<Result> {
  if (refusalsLeft(guild, now) <= 0) return otherwise();
  const known = responsesOf(guild);
  known.others++;
  try {
    return await request();
  } catch (error) {
    if (error instanceof DiscordAPIError && error.status === 403) known.refusedAt.push(now);
    throw error;
  } finally {
    known.others--;
  }
}

/**
 * The gateway reports all channels except closed threads, and the library does not report that the bot was removed from
 * a private thread. For those this asks Discord, ten at a time.
 */
export async function askAbout(guild: Guild, ids: readonly string[], now: number): Promise<Map<string, Answer>> {
  const before = responsesOf(guild);
  const { gone, hidden, inside, asking } = before;
  for (const held of [hidden, inside]) for (const [id, until] of held) if (until <= now) held.delete(id);
  const known = (id: string): Answer =>
    guild.channels.cache.get(id) ?? (gone.has(id) ? 'gone' : hidden.has(id) ? 'hidden' : undefined);
  async function ask(id: string): Promise<void> {
    const answer = await guild.channels.fetch(id, { force: true }).catch(readFailure);
    if (answer === 'gone') gone.add(id);
    else if (answer === 'hidden') hidden.set(id, now + HIDDEN_MS);
    else if (answer !== null) inside.set(id, now + HIDDEN_MS);
    if (answer === 'hidden') before.refusedAt.push(now);
    // As after a restart: the gateway reports the thread when the bot is added again.
    if (typeof answer === 'string') for (const { cache } of [guild.channels, guild.client.channels]) cache.delete(id);
    asking.delete(id);
  }
  const isUnknown = (id: string): boolean => {
    const channel = known(id);
    if (typeof channel === 'object') return channel.type === ChannelType.PrivateThread && !inside.has(id);
    return channel === undefined;
  };
  const unknown = ids.filter(isUnknown);
  const room = Math.min(ASK_MOST, refusalsLeft(guild, now));
  for (const id of unknown.filter((id) => !asking.has(id)).slice(0, Math.max(0, room))) asking.set(id, ask(id));
  await Promise.all(unknown.flatMap((id) => asking.get(id) ?? []));
  return new Map(ids.map((id) => [id, known(id)]));
}

/** What Discord's refusal shows about a channel; null: nothing. */
export function readFailure(error: unknown): 'gone' | 'hidden' | null {
  if (!(error instanceof DiscordAPIError)) return null;
  if (error.code === RESTJSONErrorCodes.UnknownChannel) return 'gone';
  return error.code === RESTJSONErrorCodes.MissingAccess ? 'hidden' : null;
}

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
  { manages, now }: Pick<ContextWith<'now'>, 'manages' | 'now'>,
): Promise<ReadonlySet<string>> {
  if (asker.memberPermissions?.has(PermissionFlagsBits.ManageGuild)) return new Set();
  const { guild, channelId: here } = asker;
  const ids = [...new Set(channelIds)];
  // A guild that has the commands but not the bot: Discord reports nothing about its channels.
  if (!guild) return new Set(manages ? [] : ids.filter((id) => id !== here));
  const absent = ids.filter((id) => isGone(asker, id));
  const answers = manages ? await askAbout(guild, absent, now()) : new Map<string, Answer>();
  const unseen = absent.filter((id) => typeof answers.get(id) !== 'object' && answers.get(id) !== 'gone');
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
