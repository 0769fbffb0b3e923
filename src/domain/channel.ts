/** Whether the bot can post in a channel. Blocked ones are `parked` (not permitted now, 403) or `unreachable` (gone, 404). */
export type ChannelState = 'ready' | 'parked' | 'unreachable';

export interface ChannelHead {
  channelId: string;
  guildId: string;
  state: ChannelState;
  dueAt: number;
  /** How often it was tried since it is parked or unreachable. */
  attempts: number;
  /** Since when it is parked or unreachable; null: it is ready. */
  since: number | null;
}

/** The reason that people read while a channel is blocked because it was deleted or its guild removed the bot. */
export const GONE = 'channel or server is gone';

/** A channel that a guild uses; `state` null: nothing was posted there yet. */
export interface UsedChannel {
  channelId: string;
  state: ChannelState | null;
}

/**
 * Returns where a guild's admins are notified of trouble in a channel: in the guild's default channel, or else in one in
 * use, preferably one in which the bot has posted before. Null: there is no other channel that the bot can post in.
 */
export function channelForNotices(
  troubledId: string,
  ofGuild: { chosen: UsedChannel | null; used: readonly UsedChannel[] },
): string | null {
  const isOpen = ({ channelId, state }: UsedChannel) => channelId !== troubledId && (state ?? 'ready') === 'ready';
  const open = ofGuild.used.filter(isOpen);
  const chosen = ofGuild.chosen && isOpen(ofGuild.chosen) ? ofGuild.chosen : undefined;
  return (chosen ?? open.find(({ state }) => state !== null) ?? open[0])?.channelId ?? null;
}

/** One of the bot's connections to Discord, which gets a part of the guilds: shard `index` of `of`. */
export type Shard = readonly [index: number, of: number];

/** Whether a guild is in a shard, by Discord's formula. */
const isInShard = ([index, of]: Shard, guildId: string): boolean =>
  of === 1 || (BigInt(guildId) >> 22n) % BigInt(of) === BigInt(index);

/** A guild about which something is stored; `removed`: it has removed the bot. */
export interface KnownGuild {
  guildId: string;
  removed: boolean;
}

/** Of a shard's known guilds: those that the bot is not in, and those that it is in again although they removed it. */
export function compareGuilds(
  known: readonly KnownGuild[],
  current: ReadonlySet<string>,
  shard: Shard,
): { gone: string[]; back: string[] } {
  const here = known.filter(({ guildId }) => isInShard(shard, guildId));
  const idsOf = (guilds: readonly KnownGuild[]) => guilds.map(({ guildId }) => guildId);
  return {
    gone: idsOf(here.filter(({ guildId }) => !current.has(guildId))),
    back: idsOf(here.filter(({ guildId, removed }) => removed && current.has(guildId))),
  };
}
