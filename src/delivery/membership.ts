import type { Logger } from 'pino';
import { composeNotice } from '../domain/batch.ts';
import type { Clock } from '../domain/clock.ts';
import type { Shard } from '../domain/guild.ts';
import type { Store } from '../store/store.ts';
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
  /** A failure is only logged: Discord reports it again, or refuses the next message there. */
  function record(guild: string, writing: Promise<void>): void {
    writing.catch((error: unknown) => log.warn({ err: error, guild }, 'cannot store where the bot can post'));
  }

  return {
    recordRemoval(guildId: string): void {
      const now = clock.now();
      record(guildId, channels.guildRemoved(guildId, now, now + FIRST_RETRY_MS));
    },
    recordReturn: (guildId: string): void => record(guildId, channels.guildReturned(guildId)),
    /** `guildIds`: all guilds of the shard. Returns those that the bot was removed from before. */
    async sync(guildIds: readonly string[], shard: Shard): Promise<string[]> {
      try {
        const { gone, back } = await channels.syncGuilds(new Set(guildIds), shard, clock.now());
        if (gone.length > 0)
          log.info({ guilds: gone }, 'the bot is no longer in these servers: their data is erased after 30 days');
        return back;
      } catch (error) {
        log.warn({ err: error }, 'cannot store which servers the bot is in');
        return [];
      }
    },
    setReady: (channelId: string): Promise<void> => channels.setState({ channelId, ...READY }),
    /**
     * Admins are notified elsewhere, once, whatever happens in between; returns the channel of that notice, or null.
     */
    async setBlocked(channelId: string, guildId: string, { head, code, isNew }: Block): Promise<string | null> {
      const row = { channelId, ...head };
      const isNotified = head.state === 'parked' && isNew;
      const elsewhere = isNotified ? await channels.channelForNotices(guildId, channelId) : null;
      if (elsewhere === null) {
        await channels.setState(row);
        return null;
      }
      const language = await guilds.language(guildId);
      const message = composeNotice(clock.now(), (reference) => renderParked(channelId, code, language, reference));
      await channels.setState(row, { guildId, channelId: elsewhere, ...message, aboutChannelId: channelId });
      return elsewhere;
    },
  };
}
