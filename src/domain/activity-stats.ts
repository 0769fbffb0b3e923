/** Events closer together than this count as one movement, such as the transfers of one transaction. */
const MOVEMENT_MS = 10_000;

/** How often a subscription's address moves. A subscription without events has no stats. */
export interface ActivityStats {
  /** Transfers that were decided about, hidden ones included. */
  events: number;
  lastEventAt: number;
  /** The average time between two movements, in milliseconds; the latest count most. Null before the second movement. */
  gapMs: number | null;
}

/** Returns the stats after one more event; an event that arrives late does not move `lastEventAt` back. */
export function afterEvent(before: ActivityStats | undefined, at: number): ActivityStats {
  if (!before) return { events: 1, lastEventAt: at, gapMs: null };
  const { events, lastEventAt, gapMs } = before;
  const elapsed = at - lastEventAt;
  const averaged = gapMs === null ? elapsed : Math.trunc(0.8 * gapMs + 0.2 * elapsed);
  return {
    events: events + 1,
    lastEventAt: Math.max(lastEventAt, at),
    gapMs: elapsed < MOVEMENT_MS ? gapMs : averaged,
  };
}
