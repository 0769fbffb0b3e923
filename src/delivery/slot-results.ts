import type { Channel, ChannelTable } from './channel-table.ts';
import type { EditSlots } from './edit-slots.ts';
import type { GuildBudgets } from './guild-budget.ts';

/** What the results of slots change. */
interface SlotResultsOptions {
  channels: ChannelTable;
  budgets: GuildBudgets;
  edits: EditSlots;
}

const NEVER = Number.POSITIVE_INFINITY;

/** The scheduler's part that records what a channel did with its slot, and when it is due again. */
export function createSlotResults({ channels, budgets, edits }: SlotResultsOptions) {
  const { recordClaim, recordResponse, setSearch, postpone, postponeEdits, block } = channels;

  /** A channel whose edit waits gets an edit slot, if it has none, and sleeps until then. */
  function sleepUntilEdit(id: string, until: number, now: number): void {
    const { hasEditSlot, editsDueAt } = channels.get(id);
    const slotAt = hasEditSlot ? null : edits.take(editsDueAt, now);
    if (slotAt !== null) channels.setEditSlot(id, slotAt);
    channels.sleep(id, Math.min(until, slotAt ?? editsDueAt));
  }

  return {
    recordClaim,
    recordResponse,
    setSearch,
    postpone,
    postponeEdits,
    block,
    /** Records that a message was sent; `more`: the store may have more for the channel. */
    recordSent(id: string, more: boolean): void {
      const { guildId, probe } = channels.get(id);
      channels.recordSent(id, more);
      if (guildId === null) return;
      if (probe || budgets.isHeld(guildId)) channels.retryBlocked(guildId);
      budgets.release(guildId);
    },
    /** Records that nothing is due until then (null: at all), except an edit that waits: the channel gets a slot for that. */
    sleep(
      id: string,
      { until, edit, burst = false }: { until: number | null; edit: boolean; burst?: boolean },
      now: number,
    ): void {
      channels.setBurst(id, burst);
      if (channels.get(id).dirty) return;
      if (edit) sleepUntilEdit(id, until ?? NEVER, now);
      else channels.sleep(id, until);
    },
    /** Whether a channel may edit one of its messages now. */
    mayEdit: ({ hasEditSlot, editsDueAt }: Channel, now: number): boolean => hasEditSlot && editsDueAt <= now,
  };
}
