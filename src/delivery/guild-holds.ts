import type { GuildHold, SendingPause } from '../domain/sending-pause.ts';
import type { ChannelTable } from './channel-table.ts';
import type { GuildBudgets } from './guild-budget.ts';

/** The scheduler's part that lets a guild's channels wait together while Discord refuses too many of their requests. */
export function createGuildHolds({ channels, budgets }: { channels: ChannelTable; budgets: GuildBudgets }) {
  return {
    /** Discord refused a request of the channel; when its guild has too many of these, all its channels wait. */
    refusalCounted(id: string, now: number): void {
      const { guildId } = channels.get(id);
      if (guildId !== null) budgets.refused(guildId, now);
    },
    /** Whether the channel may not use its slot: others of its guild were refused too often. */
    isHeld(id: string): boolean {
      const { guildId } = channels.get(id);
      return guildId !== null && budgets.isHeld(guildId);
    },
    /** The state of a guild whose channels wait together; null: they do not wait. */
    hold: (guildId: string, now: number): GuildHold | null => budgets.hold(guildId, now),
    /** How many guilds have channels that wait together. */
    heldGuilds: budgets.heldGuilds,
    /** Why a guild's channels send nothing now although something is due there. */
    pauses: (guildId: string, now: number): SendingPause[] =>
      channels.ofGuild(guildId).flatMap(({ id, parked, waitsFor, dueAt, sleepUntil }) => {
        const until = Math.max(dueAt, sleepUntil);
        if (parked || waitsFor === null || until <= now) return [];
        return [{ channelId: id, reason: waitsFor, until }];
      }),
    /**
     * Permissions or channels of a guild changed: one parked channel is tried for all, the one that changed where it is
     * known. Changes that follow each other quickly share a probe.
     */
    guildChanged(guildId: string, now: number, channelId?: string): void {
      const probeAt = budgets.changeProbeAt(guildId, now);
      const parked = channels.ofGuild(guildId).filter((one) => one.parked && !one.busy);
      const awaited = parked.find((one) => one.probe);
      const probe = parked.find(({ id }) => id === channelId) ?? awaited ?? parked[0];
      if (probe ? probe.probe && probe.dueAt <= probeAt : !budgets.isHeld(guildId)) return;
      if (probe) channels.change(probe.id, { probe: true, dueAt: Math.min(probe.dueAt, probeAt) });
      budgets.changeProbed(guildId, probeAt, now);
    },
  };
}
