import { MINUTE } from '../domain/clock.ts';

/** Refused requests within the window at which all sending pauses; Discord bans at 10,000. */
const MAX_REFUSALS = 500;
const WINDOW_MS = 10 * MINUTE;

/** Counts the requests that Discord refused within ten minutes. */
export function createRefusals() {
  /** Oldest first. */
  let refusedAt: number[] = [];
  const within = (now: number) => refusedAt.filter((at) => at > now - WINDOW_MS);
  return {
    /** Counts a refused request. */
    add(now: number): void {
      refusedAt = [...within(now), now];
    },
    count: (now: number): number => within(now).length,
    isOver: (now: number): boolean => within(now).length >= MAX_REFUSALS,
    /** When the first of those that count no longer does. */
    until: (): number => refusedAt[0]! + WINDOW_MS,
    setBack(ms: number): void {
      refusedAt = refusedAt.map((at) => at - ms);
    },
  };
}
