import type { Logger } from 'pino';
import type { GuildShare } from '../domain/channel.ts';
import type { Clock } from '../domain/clock.ts';
import type { Store } from '../store/store.ts';
import { SET_ASIDE_MS } from './apply-outcome.ts';

/** What knowing the bot's guilds needs. */
interface GuildsOptions {
  store: Pick<Store, 'channels'>;
  clock: Clock;
  log: Logger;
  /** What was set aside in these, and nothing else, is to be tried at once. */
  retry(guildIds: readonly string[]): void;
  /** From then on the database may be closed, and nobody needs to hear of it. */
  isClosing(): boolean;
}

/** Which guilds the bot is in, as far as it was told: what waits in others is kept as where a channel is gone. */
export function createGuilds({ store: { channels }, clock, log, retry, isClosing }: GuildsOptions) {
  const removedGuilds = new Set<string>();

  /** Writes something down for a later process. A failure is only logged: this one knows, and Discord tells as well. */
  function note(writing: Promise<void>, guildId: string): void {
    writing.catch((error: unknown) => {
      if (!isClosing())
        log.warn({ err: error, guild: guildId }, 'it could not be noted whether the bot is in a server');
    });
  }

  return {
    /** The bot is known to have been removed from a guild; false for null, which is not known yet. */
    isRemoved: (guildId: string | null): boolean => guildId !== null && removedGuilds.has(guildId),
    /** Discord took a message there. Nobody else says so who was not connected when the bot came back. */
    confirm: (guildId: string | null): void => void (guildId !== null && removedGuilds.delete(guildId)),
    /** The bot was removed from a guild. */
    removed(guildId: string): void {
      removedGuilds.add(guildId);
      const now = clock.now();
      note(channels.guildRemoved(guildId, now, now + SET_ASIDE_MS), guildId);
    },
    /** Permissions or channels of a guild changed, so the bot is in it. */
    changed(guildId: string): void {
      removedGuilds.delete(guildId);
      note(channels.guildReturned(guildId), guildId);
      retry([guildId]);
    },
    /** Of the guilds of a share the bot is in these, and in no others. */
    async are(guildIds: readonly string[], share: GuildShare): Promise<void> {
      try {
        const { gone, back } = await channels.syncGuilds(new Set(guildIds), share, clock.now());
        // A 403 there tells of the removal, and of no missing permission.
        for (const guildId of gone) removedGuilds.add(guildId);
        for (const guildId of back) removedGuilds.delete(guildId);
        if (gone.length > 0)
          log.info({ guilds: gone }, 'the bot is not in these servers any more: after 30 days they are erased');
        retry(back);
      } catch (error) {
        if (!isClosing()) log.warn({ err: error }, 'it could not be noted which servers the bot is in');
      }
    },
    /** A guild that the bot is no member of uses it all the same. */
    used(guildId: string): void {
      note(channels.postponeErasure(guildId, clock.now()), guildId);
    },
  };
}
