import type { Logger } from 'pino';
import type { Clock } from '../domain/clock.ts';
import { GONE, type Shard } from '../domain/guild.ts';
import type { Store } from '../store/store.ts';
import { composeNotice } from './compose.ts';
import { type Block, FIRST_RETRY_MS } from './outcome.ts';

const READY = { state: 'ready', dueAt: 0, attempts: 0, since: null, reason: null } as const;

export interface MembershipOptions {
  store: Pick<Store, 'channels' | 'guilds'>;
  clock: Clock;
  log: Logger;
  renderParked(channelId: string, code: number, language: string | null, reference: string): object;
}

/** The only writer of the stored states of channels. The schedule decides when a channel is tried. */
export function createMembership({ store: { channels, guilds }, clock, log, renderParked }: MembershipOptions) {
  const removedGuilds = new Set<string>();
  /** Guilds whose membership is stored: a new order of a hundred roles must not be a hundred writes. */
  const storedGuilds = new Set<string>();
  let isClosing = false;

  function setRemoved(guildId: string): void {
    removedGuilds.add(guildId);
    storedGuilds.delete(guildId);
  }

  /** A failure is only logged: this process knows, and Discord reports it again. */
  async function record(writing: Promise<void>, where: { guild: string } | { channel: string }): Promise<void> {
    try {
      await writing;
    } catch (error) {
      if ('guild' in where) storedGuilds.delete(where.guild);
      if (!isClosing) log.warn({ err: error, ...where }, 'cannot store where the bot can post');
    }
  }

  return {
    isRemoved: (guildId: string | null): boolean => guildId !== null && removedGuilds.has(guildId),
    /** Discord accepted a message there: the bot is back, which the gateway does not report if it was not connected. */
    confirm: (guildId: string | null): void => void (guildId !== null && removedGuilds.delete(guildId)),
    recordRemoval(guildId: string): void {
      setRemoved(guildId);
      const now = clock.now();
      void record(channels.guildRemoved(guildId, now, now + FIRST_RETRY_MS), { guild: guildId });
    },
    /** The channel's alerts are kept as after a 404, which its next message gets. */
    recordRemovedChannel(channelId: string): void {
      const head = {
        state: 'unreachable',
        dueAt: 0,
        attempts: 0,
        since: clock.now(),
        reason: `${GONE} (10003)`,
      } as const;
      void record(channels.setState({ channelId, ...head }), { channel: channelId });
    },
    recordReturn(guildId: string): void {
      removedGuilds.delete(guildId);
      if (storedGuilds.has(guildId)) return;
      storedGuilds.add(guildId);
      void record(channels.guildReturned(guildId), { guild: guildId });
    },
    /** `guildIds`: all guilds of the shard. Returns those that the bot was removed from before. */
    async sync(guildIds: readonly string[], shard: Shard): Promise<string[]> {
      try {
        const { gone, back } = await channels.syncGuilds(new Set(guildIds), shard, clock.now());
        // A 403 there means the removal, not a missing permission.
        for (const guildId of gone) setRemoved(guildId);
        for (const guildId of back) removedGuilds.delete(guildId);
        if (gone.length > 0)
          log.info({ guilds: gone }, 'the bot is no longer in these servers: their data is erased after 30 days');
        return back;
      } catch (error) {
        if (!isClosing) log.warn({ err: error }, 'cannot store which servers the bot is in');
        return [];
      }
    },
    /** Somebody in a guild without the bot uses its commands: its erasure is postponed. */
    recordUse: (guildId: string): void =>
      void record(channels.postponeErasure(guildId, clock.now()), { guild: guildId }),
    setReady: (channelId: string): Promise<void> => channels.setState({ channelId, ...READY }),
    /**
     * Admins are notified elsewhere, once, whatever happens in between; returns the channel of that notice, or null.
     */
    async setBlocked(channelId: string, guildId: string | null, { head, code, isNew }: Block): Promise<string | null> {
      const row = { channelId, ...head };
      const isNotified = head.state === 'parked' && isNew && guildId !== null;
      const elsewhere = isNotified ? await channels.channelForNotices(guildId, channelId) : null;
      if (guildId === null || elsewhere === null) {
        await channels.setState(row);
        return null;
      }
      const language = await guilds.language(guildId);
      const message = composeNotice(clock.now(), (reference) => renderParked(channelId, code, language, reference));
      await channels.setState(row, { guildId, channelId: elsewhere, ...message, aboutChannelId: channelId });
      return elsewhere;
    },
    close(): void {
      isClosing = true;
    },
  };
}
