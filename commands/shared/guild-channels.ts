import { ChannelType, DiscordAPIError, type Guild, type GuildBasedChannel, RESTJSONErrorCodes } from 'discord.js';
import { MINUTE } from '../../src/domain/clock.ts';
import { UserError } from '../../src/errors.ts';
import { ago } from './reply.ts';
import type { ContextWith } from './services.ts';

/** What Discord's response shows about a channel; undefined: nothing. */
export type FoundChannel = GuildBasedChannel | 'gone' | 'hidden' | undefined;

/** Most simultaneous requests about channels that the gateway did not report. */
const MOST_REQUESTS = 10;

/**
 * Limits the refused requests of people's commands, per guild and period, however often people ask: Discord counts each
 * refusal, and bans the bot everywhere for too many.
 */
const MOST_REFUSED = 20;
const REFUSED_MS = 2 * MINUTE;

/**
 * Discord's responses about a guild's channels. `hidden` channels, and private threads that the bot is `inside`: until
 * when that is valid; `requests` in flight; `others`: how many requests of other kinds are; `refusedAt`: the latest refusals.
 */
interface ChannelResponses {
  /** IDs are never reused: deleted channels stay deleted. */
  gone: Set<string>;
  hidden: Map<string, number>;
  inside: Map<string, number>;
  requests: Map<string, Promise<void>>;
  others: number;
  refusedAt: number[];
}

/** Requests for commands that Discord may refuse: each guild has only so many. */
export interface GuildChannels {
  /**
   * The gateway reports all channels except closed threads, and the library does not report that the bot was removed from
   * a private thread. For those this asks Discord, ten at a time.
   */
  find(guild: Guild, ids: readonly string[]): Promise<Map<string, FoundChannel>>;
  /** Makes a request that Discord may refuse, unless it refused too many of this guild; `otherwise`: what then follows. */
  request<Result>(guild: Guild, make: () => Promise<Result>, otherwise: () => Result): Promise<Result>;
}

/** Creates the requests about guilds' channels, and what is remembered of their responses. */
export function createGuildChannels(now: () => number): GuildChannels {
  const byGuild = new WeakMap<Guild, ChannelResponses>();

  function responsesOf(guild: Guild): ChannelResponses {
    const present = byGuild.get(guild);
    if (present) return present;
    const channels = { gone: new Set<string>(), hidden: new Map(), inside: new Map(), requests: new Map() };
    const none: ChannelResponses = { ...channels, others: 0, refusedAt: [] };
    byGuild.set(guild, none);
    return none;
  }

  /** How many requests of people in this guild Discord may still refuse now. */
  function refusalsLeft(guild: Guild, at: number): number {
    const responses = responsesOf(guild);
    responses.refusedAt = responses.refusedAt.filter((refusedAt) => refusedAt > at - REFUSED_MS);
    return MOST_REFUSED - responses.refusedAt.length - responses.requests.size - responses.others;
  }

  async function fetchChannel(guild: Guild, id: string, at: number): Promise<void> {
    const responses = responsesOf(guild);
    const found = await guild.channels.fetch(id, { force: true }).catch(readFailure);
    if (found === 'gone') responses.gone.add(id);
    else if (found === 'hidden') responses.hidden.set(id, at + REFUSED_MS);
    else if (found !== null) responses.inside.set(id, at + REFUSED_MS);
    if (found === 'hidden') responses.refusedAt.push(at);
    // As after a restart: the gateway reports the thread when the bot is added again.
    if (typeof found === 'string') for (const { cache } of [guild.channels, guild.client.channels]) cache.delete(id);
    responses.requests.delete(id);
  }

  return {
    async find(guild, ids) {
      const at = now();
      const { gone, hidden, inside, requests } = responsesOf(guild);
      for (const held of [hidden, inside]) for (const [id, until] of held) if (until <= at) held.delete(id);
      const found = (id: string): FoundChannel =>
        guild.channels.cache.get(id) ?? (gone.has(id) ? 'gone' : hidden.has(id) ? 'hidden' : undefined);
      const isUnknown = (id: string): boolean => {
        const channel = found(id);
        if (typeof channel === 'object') return channel.type === ChannelType.PrivateThread && !inside.has(id);
        return channel === undefined;
      };
      const unknown = ids.filter(isUnknown);
      const room = Math.max(0, Math.min(MOST_REQUESTS, refusalsLeft(guild, at)));
      const wanted = unknown.filter((id) => !requests.has(id)).slice(0, room);
      for (const id of wanted) requests.set(id, fetchChannel(guild, id, at));
      await Promise.all(unknown.flatMap((id) => requests.get(id) ?? []));
      return new Map(ids.map((id) => [id, found(id)]));
    },

    async request(guild, make, otherwise) {
      const at = now();
      if (refusalsLeft(guild, at) <= 0) return otherwise();
      const responses = responsesOf(guild);
      responses.others++;
      try {
        return await make();
      } catch (error) {
        if (error instanceof DiscordAPIError && error.status === 403) responses.refusedAt.push(at);
        throw error;
      } finally {
        responses.others--;
      }
    },
  };
}

/** What Discord's refusal shows about a channel; null: nothing. */
export function readFailure(error: unknown): 'gone' | 'hidden' | null {
  if (!(error instanceof DiscordAPIError)) return null;
  if (error.code === RESTJSONErrorCodes.UnknownChannel) return 'gone';
  return error.code === RESTJSONErrorCodes.MissingAccess ? 'hidden' : null;
}

/** Throws a {@link UserError}: Discord refused too many requests of the guild. */
export function tooManyRefusals({ t, now }: ContextWith<'now'>): never {
  throw new UserError(t('failure.refused', { due: ago(now() + REFUSED_MS) }));
}
