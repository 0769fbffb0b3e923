import { createChannelQueue } from './channel-queue.ts';
import { createChannelTable } from './channel-table.ts';
import { createEditSlots } from './edit-slots.ts';
import { createGuildBudgets } from './guild-budget.ts';
import { createGuildHolds } from './guild-holds.ts';
import { createPriority } from './priority.ts';
import { createSlotResults } from './slot-results.ts';

/** The owner of every channel's state. */
export type Scheduler = ReturnType<typeof createScheduler>;

/** Decides which channel sends next. Time is always an argument; nothing is read, sent or stored. */
export function createScheduler() {
  const channels = createChannelTable();
  const priority = createPriority();
  const budgets = createGuildBudgets();
  const edits = createEditSlots();
  return {
    ...createChannelQueue({ channels, priority, budgets }),
    ...createSlotResults({ channels, budgets, edits }),
    ...createGuildHolds({ channels, budgets }),
    /** Shortens waits by the amount that the clock was set back. */
    setBack(ms: number): void {
      for (const part of [priority, budgets, edits, channels]) part.setBack(ms);
    },
  };
}
