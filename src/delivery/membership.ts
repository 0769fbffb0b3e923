import type { Logger } from 'pino';
import type { Shard } from '../domain/channel.ts';
import { type Clock, MINUTE } from '../domain/clock.ts';
import type { ChannelStates } from './channel-states.ts';

/** Minimum time between two writes that the bot is in a guild: a new order of a hundred roles must not be a hundred writes. */
const WRITE_SPACING_MS = MINUTE;

/** What tracking the bot's guilds needs. */
interface MembershipOptions {
  states: Omit<ChannelStates, 'setReady' | 'setBlocked'>;
  clock: Clock;
  log: Logger;
  /** From then on the store may be closed; failures are expected. */
  isClosing(): boolean;
}

/** The tracker of the bot's guilds. */
export type Membership = ReturnType<typeof createMembership>;

/** Tracks which guilds the bot was removed from: channels there are unreachable. */
export function createMembership({ states, clock, log, isClosing }: MembershipOptions) {
  const removedGuilds = new Set<string>();
  /** When it was stored that the bot is in a guild. */
  const storedAt = new Map<string, number>();

  function setRemoved(guildId: string): void {
    removedGuilds.add(guildId);
    storedAt.delete(guildId);
  }

  /** Stores something for a later process. A failure is only logged: this process knows, and Discord reports it again. */
  function record(writing: Promise<void>, guildId: string): void {
    writing.catch((error: unknown) => {
      storedAt.delete(guildId);
      if (!isClosing()) log.warn({ err: error, guild: guildId }, 'cannot store whether the bot is in a server');
    });
  }

  return {
    /** Whether the bot is known to have been removed from a guild; false for an unknown guild (null). */
    isRemoved: (guildId: string | null): boolean => guildId !== null && removedGuilds.has(guildId),
    /**
     * Records that Discord accepted a message there: the bot is back. The gateway does not report that if the bot was not
     * connected.
     */
    confirm: (guildId: string | null): void => void (guildId !== null && removedGuilds.delete(guildId)),
    /** Records that the bot was removed from a guild. */
    recordRemoval(guildId: string): void {
      setRemoved(guildId);
      record(states.setGuildRemoved(guildId), guildId);
    },
    /**
     * Records that a channel is gone, as after a 404: its alerts are kept for some days, and people see why. A failure is
     * only logged: the next message there will get that 404 from Discord.
     */
    async recordRemovedChannel(channelId: string): Promise<void> {
      try {
        await states.setDeleted(channelId);
      } catch (error) {
        log.warn({ err: error, channel: channelId }, 'cannot record a removed channel');
      }
    },
    /** Records that the bot is in a guild: its permissions or channels changed there. */
    recordReturn(guildId: string): void {
      removedGuilds.delete(guildId);
      const now = clock.now();
      if (Math.abs(now - (storedAt.get(guildId) ?? Number.NEGATIVE_INFINITY)) >= WRITE_SPACING_MS) {
        storedAt.set(guildId, now);
        record(states.setGuildReturned(guildId), guildId);
      }
    },
    /** Records that the bot is in exactly these guilds of a shard; returns those that it was removed from before. */
    async sync(guildIds: readonly string[], shard: Shard): Promise<string[]> {
      try {
        const { gone, back } = await states.syncGuilds(guildIds, shard);
        // A 403 there means the removal, not a missing permission.
        for (const guildId of gone) setRemoved(guildId);
        for (const guildId of back) removedGuilds.delete(guildId);
        if (gone.length > 0)
          log.info({ guilds: gone }, 'the bot is no longer in these servers: their data is erased after 30 days');
        return back;
      } catch (error) {
        if (!isClosing()) log.warn({ err: error }, 'cannot store which servers the bot is in');
        return [];
      }
    },
    /** Records that somebody in a guild without the bot uses its commands. */
    recordUse(guildId: string): void {
      record(states.postponeErasure(guildId), guildId);
    },
  };
}
