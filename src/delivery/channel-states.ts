import { GONE, type Shard } from '../domain/channel.ts';
import type { Clock } from '../domain/clock.ts';
import type { Store } from '../store/store.ts';
import { type Block, FIRST_RETRY_MS } from './decide.ts';
import { newReference, nonceOf } from './reference.ts';

/** What recording states needs. */
export interface ChannelStatesOptions {
  store: Pick<Store, 'channels' | 'guilds'>;
  clock: Clock;
  /** The body of a notice for admins about a channel that the bot cannot post in. */
  renderParked(channelId: string, code: number, language: string | null, reference: string): object;
}

/** The stored states of channels. */
export type ChannelStates = ReturnType<typeof createChannelStates>;

const READY = { state: 'ready', dueAt: 0, attempts: 0, since: null, reason: null } as const;

/**
 * Stores whether the bot can post in each channel, for people and for the next process; only this file writes that. The
 * scheduler decides when a channel is served.
 */
export function createChannelStates({ store: { channels, guilds }, clock, renderParked }: ChannelStatesOptions) {
  return {
    /** Stores that a blocked channel accepted a message. */
    setReady: (channelId: string): Promise<void> => channels.setState({ channelId, ...READY }),
    /**
     * Stores that Discord refused to post in a channel. Admins are notified elsewhere, once, whatever happens in between;
     * returns the channel of that notice, or null.
     */
    async setBlocked(channelId: string, guildId: string | null, { head, code, isNew }: Block): Promise<string | null> {
      const row = { channelId, ...head };
      const isNotified = head.state === 'parked' && isNew && guildId !== null;
      const elsewhere = isNotified ? await channels.channelForNotices(guildId, channelId) : null;
      if (guildId === null || elsewhere === null) {
        await channels.setState(row);
        return null;
      }
      const now = clock.now();
      const reference = newReference();
      const body = renderParked(channelId, code, await guilds.language(guildId), reference);
      const message = { reference, nonce: nonceOf(reference, now), payload: JSON.stringify(body), now };
      await channels.setState(row, { guildId, channelId: elsewhere, ...message, aboutChannelId: channelId });
      return elsewhere;
    },
    /** Stores that a channel was deleted: its alerts are kept as after a 404. */
    setDeleted: (channelId: string): Promise<void> =>
      channels.setState({
        channelId,
        state: 'unreachable',
        dueAt: 0,
        attempts: 0,
        since: clock.now(),
        reason: `${GONE} (10003)`,
      }),
    /** Stores that the bot was removed from a guild. */
    setGuildRemoved(guildId: string): Promise<void> {
      const now = clock.now();
      return channels.guildRemoved(guildId, now, now + FIRST_RETRY_MS);
    },
    /** Stores that the bot is in a guild. */
    setGuildReturned: (guildId: string): Promise<void> => channels.guildReturned(guildId),
    /** Stores that the bot is in exactly these guilds of a shard; returns the known ones it is not in, and those it is in again. */
    syncGuilds: (guildIds: readonly string[], shard: Shard): Promise<{ gone: string[]; back: string[] }> =>
      channels.syncGuilds(new Set(guildIds), shard, clock.now()),
    /** Postpones the erasure of a guild without the bot: somebody there uses its commands. */
    postponeErasure: (guildId: string): Promise<void> => channels.postponeErasure(guildId, clock.now()),
  };
}
