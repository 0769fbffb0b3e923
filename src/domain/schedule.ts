import { Temporal } from 'temporal-polyfill';
import { MINUTE } from './clock.ts';

/** Why an alert is not posted at once. */
export type Hold = 'hourly' | 'daily' | 'quiet';

/** Why alerts are posted as a digest. */
export type DigestReason = Hold | 'backlog' | 'burst';

/** When a subscription's alerts are posted. */
export interface DeliverySchedule {
  digest: 'hourly' | 'daily' | null;
  /** `22:00-07:00` in the guild's time zone. */
  quiet: string | null;
}

/** When an alert may be posted: at once (`hold` null, `dueAt` 0), or from `dueAt` on. */
export interface Due {
  hold: Hold | null;
  /** Milliseconds since 1970. */
  dueAt: number;
}

/** `hold` null: at once. */
const AT_ONCE: Due = { hold: null, dueAt: 0 };

/**
 * When an alert that several subscriptions of one channel share is due: at the earliest time of theirs. An unknown time
 * zone counts as UTC.
 */
export function dueOf(schedules: DeliverySchedule[], timezone: string | null, now: number): Due {
  const dues = schedules.map((schedule) => dueOfOne(schedule, timezone, now));
  return dues.reduce((first, due) => (due.dueAt < first.dueAt ? due : first), dues[0] ?? AT_ONCE);
}

function dueOfOne({ digest, quiet }: DeliverySchedule, timezone: string | null, now: number): Due {
  const postedAt = digest === null ? now : endOf(digest, timezone, now);
  const awake = quiet === null ? null : quietUntil(quiet, timezone, postedAt);
  // What is due in the quiet hours is posted after them, and a daily digest stays one.
  if (awake !== null) return { hold: digest === 'daily' ? 'daily' : 'quiet', dueAt: awake };
  return digest === null ? AT_ONCE : { hold: digest, dueAt: postedAt };
}

function endOf(period: 'hourly' | 'daily', timezone: string | null, now: number): number {
  const local = localTime(timezone, now);
  const hour = local.round({ smallestUnit: 'hour', roundingMode: 'floor' });
  const end = period === 'hourly' ? hour.add({ hours: 1 }) : local.startOfDay().add({ days: 1 });
  return end.epochMilliseconds;
}

/** The end of the quiet hours that contain `now`; null outside of them. */
export function quietUntil(quiet: string, timezone: string | null, now: number): number | null {
  if (!/^\d\d:\d\d-\d\d:\d\d$/.test(quiet)) return null;
  const [start, end] = quiet.split('-').map((time) => Temporal.PlainTime.from(time)) as [
    Temporal.PlainTime,
    Temporal.PlainTime,
  ];
  const local = localTime(timezone, now);
  const hasStarted = Temporal.PlainTime.compare(local, start) >= 0;
  const isBeforeEnd = Temporal.PlainTime.compare(local, end) < 0;
  const isOvernight = Temporal.PlainTime.compare(start, end) > 0;
  if (isOvernight ? !hasStarted && !isBeforeEnd : !hasStarted || !isBeforeEnd) return null;
  const date = local.toPlainDate().add({ days: isOvernight && hasStarted ? 1 : 0 });
  const endAt = (disambiguation: 'compatible' | 'later') =>
    date.toPlainDateTime(end).toZonedDateTime(local.timeZoneId, { disambiguation }).epochMilliseconds;
  // Clocks may show a time twice: the first one that is still ahead counts.
  const first = endAt('compatible');
  return first > now ? first : endAt('later');
}

function localTime(timezone: string | null, at: number): Temporal.ZonedDateTime {
  const instant = Temporal.Instant.fromEpochMilliseconds(at);
  try {
    return instant.toZonedDateTimeISO(timezone ?? 'UTC');
  } catch {
    return instant.toZonedDateTimeISO('UTC');
  }
}

/** More waiting transactions in a channel become a digest. */
export const BACKLOG_TRANSACTIONS = 50;

/** With more alerts within the window, a channel gets digests. */
export const BURST_ALERTS = 60;
/** How far back those alerts are counted. */
export const BURST_WINDOW_MS = 10 * MINUTE;
/** Between the last alert of a burst and its first digest; each further digest doubles it. */
const BURST_PAUSE = { first: 10_000, most: 50_000 };
/** After this long without an alert a burst is over, however many there were. */
const BURST_OVER_MS = MINUTE;
/** How far back those digests are counted. */
export const BURST_MEMORY_MS = 30 * MINUTE;

/**
 * Until when a channel's next alerts are collected, after this many `alerts` in the window that ended with the last of them at
 * `lastAt`, and after this many digests of the burst; null: they are posted one by one. If the time has passed, a digest is
 * due.
 */
export function burstUntil(posted: { alerts: number; digests: number; lastAt: number }, now: number): number | null {
  const { alerts, digests, lastAt } = posted;
  // If `lastAt` lies in the future because the clock was set back, nothing is held.
  const isOver = now < lastAt || now >= lastAt + BURST_OVER_MS;
  if (alerts <= BURST_ALERTS || isOver) return null;
  // Bounded, so that nobody can hide an important alert behind a burst for long.
  return lastAt + Math.min(BURST_PAUSE.first * 2 ** digests, BURST_PAUSE.most);
}

/**
 * Why a channel's due alerts are posted now as a digest (null: one by one). `later`: those of a burst are collected until
 * `gatheredUntil`. `hold`: why the alerts waited.
 */
export function digestReason(
  hold: Hold | null,
  gatheredUntil: number | null,
  now: number,
): DigestReason | null | 'later' {
  if (hold !== null) return hold;
  if (gatheredUntil === null) return null;
  return gatheredUntil <= now ? 'burst' : 'later';
}

/** When a channel's next alerts are due; null: none wait. `heldUntil`: when the first held one is. */
export const nextDueAt = (gatheredUntil: number | null, heldUntil: number | null): number | null =>
  gatheredUntil === null ? heldUntil : Math.min(gatheredUntil, heldUntil ?? gatheredUntil);
