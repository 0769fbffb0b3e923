import { NO_SEARCH, type Search, widened } from './bisect.ts';
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
  return {
    /** A channel claimed what it sends next; `alerts`: how many wait in total. */
    claimed(id: string, { alerts, isEdit }: { alerts: number; isEdit: boolean }): void {
      const channel = channels.get(id);
      channels.change(id, { alerts: channel.alerts + alerts, hasEditSlot: channel.hasEditSlot && !isEdit });
    },
    /** A message with this many alerts got a response. */
    answered(id: string, alerts: number): void {
      channels.change(id, { alerts: Math.max(0, channels.get(id).alerts - alerts) });
    },
    /** A message was sent; `more`: the store may have more for the channel. */
    sent(id: string, more: boolean): void {
      const { search, guildId, probe } = channels.get(id);
      channels.change(id, {
        dueAt: 0,
        waitsFor: null,
        parked: false,
        probe: false,
        search: widened(search),
        done: !more,
      });
      if (guildId === null) return;
      if (probe || budgets.isHeld(guildId)) channels.retryParked(guildId);
      budgets.passed(guildId);
    },
    /** Its message failed because of an alert in it; null: that alert was found. */
    refused: (id: string, search: Search | null): void => channels.change(id, { search: search ?? NO_SEARCH }),
    /** The channel waits until then, and keeps everything else. */
    postponed: (id: string, until: number, waitsFor: 'rate' | 'retry' = 'retry'): void =>
      channels.change(id, { dueAt: until, waitsFor }),
    /** The channel's edits wait until then; its new alerts do not. */
    editsPostponed: (id: string, until: number): void => channels.change(id, { editsDueAt: until }),
    /** The channel cannot be written to; it is tried again then. */
    parked: (id: string, until: number): void =>
      channels.change(id, { parked: true, probe: false, dueAt: until, storedDueAt: until }),
    /** Nothing is due until then (null: at all), except an edit that waits: the channel gets a slot for that. */
    slept(
      id: string,
      { until, edit, burst = false }: { until: number | null; edit: boolean; burst?: boolean },
      now: number,
    ): void {
      const { dirty, hasEditSlot, editsDueAt } = channels.get(id);
      channels.change(id, { waitsFor: burst ? 'burst' : null });
      if (dirty) return;
      if (!edit) {
        channels.change(id, until === null ? { done: true } : { sleepUntil: until });
        return;
      }
      const slotAt = hasEditSlot ? null : edits.take(editsDueAt, now);
      const editAt = slotAt ?? editsDueAt;
      channels.change(id, {
        hasEditSlot: hasEditSlot || slotAt !== null,
        editsDueAt: editAt,
        sleepUntil: Math.min(until ?? NEVER, editAt),
      });
    },
    /** Whether a channel may edit one of its messages now. */
    mayEdit: ({ hasEditSlot, editsDueAt }: Channel, now: number): boolean => hasEditSlot && editsDueAt <= now,
  };
}
