import type { AlertTarget } from '../domain/alert.ts';
import type { ChannelHead } from '../domain/channel.ts';
import type { Channel, ChannelTable, FoundChannel } from './channel-table.ts';
import type { GuildBudgets } from './guild-budget.ts';
import type { Priority } from './priority.ts';
import type { SlotPolicy } from './request-window.ts';

/** The channel that is next and its slot policy, or how long nothing is due. */
type NextSlot = { channel: Channel; policy: SlotPolicy } | { channel: null; waitMs: number };

/** What the order of channels depends on. */
interface QueueOptions {
  channels: ChannelTable;
  priority: Priority;
  budgets: GuildBudgets;
}

/** The scheduler's part that knows which channels have something to send, and which is next. */
export function createChannelQueue({ channels, priority, budgets }: QueueOptions) {
  function beginGuildSlot(guildId: string): void {
    priority.recordSlot(guildId);
    budgets.beginSlot(guildId);
  }

  return {
    /** Adds alerts: `targets` names a channel once for each. They follow from this many events. */
    addAlerts(targets: readonly AlertTarget[], events: number, now: number): void {
      priority.recordEvents(events, now);
      // All guilds first: one with very many channels is then known by its first ones.
      for (const { channelId, guildId } of targets) if (guildId !== undefined) channels.setGuild(channelId, guildId);
      for (const { channelId } of targets) channels.add(channelId, now, null);
    },
    /** Adds a channel for which the store has alerts. */
    addFound(channel: FoundChannel, now: number): void {
      channels.setGuild(channel.channelId, channel.guildId);
      channels.add(channel.channelId, now, channel);
    },
    next(now: number): NextSlot {
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
    /** Begins a channel's slot; the channel moves to the back of the queue. */
    beginSlot(id: string): void {
      channels.beginSlot(id);
      const { guildId } = channels.get(id);
      if (guildId !== null) beginGuildSlot(guildId);
    },
    /** Sets what the store knows about a channel that an alert named first; returns whether it may use its slot now. */
    setLoaded(id: string, head: Pick<ChannelHead, 'guildId' | 'dueAt' | 'state'>, now: number): boolean {
      if (channels.get(id).guildId === null) beginGuildSlot(head.guildId);
      channels.setLoaded(id, head);
      return head.dueAt <= now && !budgets.isHeld(head.guildId);
    },
    /** Ends a channel's slot. The channel is forgotten if it has nothing more. */
    endSlot(id: string, now: number): void {
      const { guildId } = channels.get(id);
      if (guildId !== null) budgets.endSlot(guildId, now);
      channels.endSlot(id, now);
    },
  };
}
