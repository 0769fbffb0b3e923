import type { AlertTarget } from '../domain/alert.ts';
import type { ChannelHead } from '../domain/channel.ts';
import type { Channel, ChannelTable, FoundChannel } from './channel-table.ts';
import type { GuildBudgets } from './guild-budget.ts';
import type { Priority } from './priority.ts';
import type { SlotPolicy } from './request-window.ts';

/** The channel whose turn it is and its slot policy, or how long nothing is due. */
type Decision = { channel: Channel; policy: SlotPolicy } | { channel: null; waitMs: number };

/** What the order of channels depends on. */
interface QueueOptions {
  channels: ChannelTable;
  priority: Priority;
  budgets: GuildBudgets;
}

/** The scheduler's part that knows which channels have something to send, and whose turn it is. */
export function createChannelQueue({ channels, priority, budgets }: QueueOptions) {
  function slotTaken(guildId: string): void {
    priority.slotTaken(guildId);
    budgets.began(guildId);
  }

  return {
    /** These channels have something new, named once for each alert, after this many events. */
    arrived(targets: readonly AlertTarget[], events: number, now: number): void {
      priority.eventsArrived(events, now);
      // All guilds first: one with very many channels is then known by its first ones.
      for (const { channelId, guildId } of targets) if (guildId !== undefined) channels.setGuild(channelId, guildId);
      for (const { channelId } of targets) channels.add(channelId, now, null);
    },
    /** The store has alerts for a channel. */
    found(channel: FoundChannel, now: number): void {
      channels.setGuild(channel.channelId, channel.guildId);
      channels.add(channel.channelId, now, channel);
    },
    next(now: number): Decision {
      let first: Channel | null = null;
      let waitMs = Number.POSITIVE_INFINITY;
      for (const channel of channels.all()) {
        if (channel.busy) continue;
        const wait = Math.max(channel.dueAt - now, channel.sleepUntil - now, budgets.wait(channel.guildId, now));
        if (wait > 0) waitMs = Math.min(waitMs, wait);
        else if (!first || priority.comesBefore(channel, first, now)) first = channel;
      }
      return first ? { channel: first, policy: priority.policyOf(first, now) } : { channel: null, waitMs };
    },
    /** A channel got a slot; it moves to the back of the queue. */
    began(id: string): void {
      const channel = channels.moveToBack(id);
      channels.change(id, { busy: true, dirty: false, done: false, alerts: 0 });
      if (channel.guildId !== null) slotTaken(channel.guildId);
    },
    /** What the store knows about a channel that an alert named first. */
    loaded(id: string, { guildId, dueAt, state }: Pick<ChannelHead, 'guildId' | 'dueAt' | 'state'>): void {
      if (channels.find(id)?.guildId === null) slotTaken(guildId);
      channels.setGuild(id, guildId);
      channels.change(id, { guildId, dueAt, storedDueAt: dueAt, parked: state !== 'ready', loaded: true });
    },
    /** A channel's slot is over. It is forgotten if it has nothing more. */
    ended(id: string, now: number): void {
      const channel = channels.get(id);
      if (channel.guildId !== null) budgets.ended(channel.guildId, now);
      if (channel.done && !channel.dirty) channels.forget(id);
      else channels.change(id, { busy: false, queuedAt: now });
    },
  };
}
