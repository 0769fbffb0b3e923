import { SECOND } from '../domain/clock.ts';
import { PER_SECOND } from './request-window.ts';

/** Time between two edits: half of the requests stay free for new alerts at any moment. */
const EDIT_SPACING_MS = (2 * SECOND) / PER_SECOND;

/** The times of edits. */
export type EditSlots = ReturnType<typeof createEditSlots>;

/** Assigns the times at which sent messages may be edited, over all channels. */
export function createEditSlots() {
  /** No edit is made before this time. */
  let from = Number.NEGATIVE_INFINITY;
  return {
    /** Takes the next slot and returns its time; null if the channel may not edit until `dueAt`, which is later. */
    take(dueAt: number, now: number): number | null {
      const at = Math.max(now, from);
      if (dueAt > at) return null;
      from = at + EDIT_SPACING_MS;
      return at;
    },
    /** Shortens waits by the amount that the clock was set back. */
    setBack(ms: number): void {
      from -= ms;
    },
  };
}
