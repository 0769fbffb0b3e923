import type { DigestReason, Hold } from './alert.ts';
import { type DueAlerts, MAX_ALERTS } from './batch.ts';
import { backOff, MINUTE, SECOND } from './clock.ts';

/** If more transactions wait in a channel, they become a digest. */
export const BACKLOG_TRANSACTIONS = 50;
/** If the oldest has waited for longer, they become a digest as soon as they fill more than a message. */
const BACKLOG_AGE_MS = 30 * MINUTE;

/** If a channel gets more alerts within the window, it gets digests. */
export const BURST_ALERTS = 60;
export const BURST_WINDOW_MS = 10 * MINUTE;
/** The time between the last alert of a burst and its first digest; each further digest doubles it. */
const BURST_PAUSE = { base: 10 * SECOND, max: 50 * SECOND };
/** After this long without an alert a burst is over, however many there were. */
const BURST_OVER_MS = MINUTE;
export const BURST_DIGESTS_MS = 30 * MINUTE;

/**
 * Returns until when a channel's next alerts are collected for a digest, which is due once that time has passed; null: they
 * are posted one by one. `alerts`: how many were in the window that ends with the last one, at `lastAt`; `digests`: how
 * many the burst has had.
 */
export function burstUntil(posted: { alerts: number; digests: number; lastAt: number }, now: number): number | null {
  const { alerts, digests, lastAt } = posted;
  // If `lastAt` is in the future because the clock was set back, nothing is held.
  const isOver = now < lastAt || now >= lastAt + BURST_OVER_MS;
  if (alerts <= BURST_ALERTS || isOver) return null;
  // Bounded, so that nobody can hide an important alert behind a burst for long.
  return lastAt + backOff(digests, BURST_PAUSE);
}

/**
 * Returns why a channel's due alerts were collected for a digest; null: they were not; `later`: those of a burst still are
 * being collected, until `collectingUntil`. `hold`: why the alerts were held.
 */
export function collectedFor(
  hold: Hold | null,
  collectingUntil: number | null,
  now: number,
): DueAlerts['reason'] | 'later' {
  if (hold !== null) return hold;
  if (collectingUntil === null) return null;
  return collectingUntil <= now ? 'burst' : 'later';
}

/** Why due alerts become a digest: they were collected for one, or there are too many. Null: they are posted one by one. */
export function digestReason(
  { waiting, transactions, oldest, reason }: Omit<DueAlerts, 'alerts'>,
  now: number,
): DigestReason | null {
  // A single one shows more on its own.
  if (waiting === 1) return null;
  if (reason) return reason;
  // A transaction is shown as one alert, however many transfers it has.
  const isOld = now - oldest > BACKLOG_AGE_MS && transactions > MAX_ALERTS;
  return transactions > BACKLOG_TRANSACTIONS || isOld ? 'backlog' : null;
}

/** When a channel's next alerts are due; null: none wait. `heldUntil`: when the first held one is. */
export const nextDueAt = (collectingUntil: number | null, heldUntil: number | null): number | null =>
  collectingUntil === null ? heldUntil : Math.min(collectingUntil, heldUntil ?? collectingUntil);
