import { ChannelType, DiscordAPIError, type Guild, type GuildBasedChannel, RESTJSONErrorCodes } from 'discord.js';
import { MINUTE } from '../../src/domain/clock.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { relativeTime } from './reply.ts';

/** The state of a channel by Discord's response; undefined: the response does not show it. */
export type FoundChannel = GuildBasedChannel | 'gone' | 'hidden' | undefined;

const MAX_REQUESTS = 10;

/** Maximum refused requests of one guild's commands per period: Discord bans bots for too many. */
const MAX_REFUSED = 20;
const REFUSED_MS = 2 * MINUTE;

const noResponses = () => ({
  /** Deleted channels. IDs are never reused, so they stay deleted. */
  gone: new Set<string>(),
  /** Channels that the bot cannot see, and until when that is remembered. */
  hidden: new Map<string, number>(),
  /** Private threads that the bot is in, and until when that is remembered. */
  inside: new Map<string, number>(),
  requests: new Map<string, Promise<void>>(),
  otherRequests: 0,
  refusedAt: [] as number[],
});

/** Requests of commands that Discord may refuse. The refusals of each guild are limited. */
export interface GuildChannels {
  /** Asks Discord about closed threads, and about private ones: the library does not report the bot's removal there. */
  find(guild: Guild, ids: readonly string[]): Promise<Map<string, FoundChannel>>;
  /** Makes a request that Discord may refuse. If it refused too many of this guild, calls `otherwise` instead. */
  request<Result>(guild: Guild, make: () => Promise<Result>, otherwise: () => Result): Promise<Result>;
}

export function createGuildChannels(now: () => number): GuildChannels {
  const byGuild = new WeakMap<Guild, ReturnType<typeof noResponses>>();

  function responsesOf(guild: Guild) {
    const responses = byGuild.get(guild) ?? noResponses();
    byGuild.set(guild, responses);
    return responses;
  }

  function refusalsLeft(guild: Guild, at: number): number {
    const responses = responsesOf(guild);
    responses.refusedAt = responses.refusedAt.filter((refusedAt) => refusedAt > at - REFUSED_MS);
    return MAX_REFUSED - responses.refusedAt.length - responses.requests.size - responses.otherRequests;
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
      const room = Math.max(0, Math.min(MAX_REQUESTS, refusalsLeft(guild, at)));
      const wanted = unknown.filter((id) => !requests.has(id)).slice(0, room);
      for (const id of wanted) requests.set(id, fetchChannel(guild, id, at));
      await Promise.all(unknown.flatMap((id) => requests.get(id) ?? []));
      return new Map(ids.map((id) => [id, found(id)]));
    },

    async request(guild, make, otherwise) {
      const at = now();
      if (refusalsLeft(guild, at) <= 0) return otherwise();
      const responses = responsesOf(guild);
      responses.otherRequests++;
      try {
        return await make();
      } catch (error) {
        if (error instanceof DiscordAPIError && error.status === 403) responses.refusedAt.push(at);
        throw error;
      } finally {
        responses.otherRequests--;
      }
    },
  };
}

export function readFailure(error: unknown): 'gone' | 'hidden' | null {
  if (!(error instanceof DiscordAPIError)) return null;
  if (error.code === RESTJSONErrorCodes.UnknownChannel) return 'gone';
  return error.code === RESTJSONErrorCodes.MissingAccess ? 'hidden' : null;
}

export function tooManyRefusals({ t, now }: { t: Translate; now(): number }): never {
  throw new UserError(t('failure.refused', { due: relativeTime(now() + REFUSED_MS) }));
}
