import type { GuildHold, SendingPause } from '../domain/sending-pause.ts';
import type { ChannelTable } from './channel-table.ts';
import type { GuildBudgets } from './guild-budget.ts';

/** The scheduler's part that lets a guild's channels wait together while Discord refuses too many of their requests. */
export function createGuildHolds({ channels, budgets }: { channels: ChannelTable; budgets: GuildBudgets }) {
  return {
    /** Counts a request of the channel that Discord refused; when its guild has too many of these, all its channels wait. */
    recordRefusal(id: string, now: number): void {
      const { guildId } = channels.get(id);
      if (guildId !== null) budgets.recordRefusal(guildId, now);
    },
    /** The state of a guild whose channels wait together; null: they do not wait. */
    hold: (guildId: string, now: number): GuildHold | null => budgets.hold(guildId, now),
    /** How many guilds have channels that wait together. */
    heldGuilds: budgets.heldGuilds,
    /** Why a guild's channels send nothing now although something is due there. */
    pauses: (guildId: string, now: number): SendingPause[] =>
      channels.ofGuild(guildId).flatMap(({ id, blocked, waitsFor, dueAt, sleepUntil }) => {
        const until = Math.max(dueAt, sleepUntil);
        if (blocked || waitsFor === null || until <= now) return [];
        return [{ channelId: id, reason: waitsFor, until }];
      }),
    /**
     * Tries one blocked channel of a guild for all, because permissions or channels changed there; the one that changed
     * where it is known. Changes that follow each other quickly share a probe.
     */
    probeGuild(guildId: string, now: number, channelId?: string): void {
      const probeAt = budgets.changeProbeAt(guildId, now);
      const blocked = channels.ofGuild(guildId).filter((one) => one.blocked && !one.busy);
      const awaited = blocked.find((one) => one.probe);
      const probe = blocked.find(({ id }) => id === channelId) ?? awaited ?? blocked[0];
      if (probe ? probe.probe && probe.dueAt <= probeAt : !budgets.isHeld(guildId)) return;
      if (probe) channels.probe(probe.id, probeAt);
      budgets.recordChangeProbe(guildId, probeAt, now);
    },
  };
}
