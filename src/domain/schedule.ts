import { DAY, HOUR, MINUTE } from './clock.ts';

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
  const wall = wallOf(timezone, now);
  if (period === 'hourly') return now + HOUR - (wall % HOUR);
  return instantOf(timezone, wall - (wall % DAY) + DAY, now);
}

/** The end of the quiet hours that contain `now`; null outside of them. */
export function quietUntil(quiet: string, timezone: string | null, now: number): number | null {
  const hours = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(quiet)?.slice(1).map(Number);
  if (!hours) return null;
  const [startHour = 0, startMinute = 0, endHour = 0, endMinute = 0] = hours;
  const start = startHour * HOUR + startMinute * MINUTE;
  const end = endHour * HOUR + endMinute * MINUTE;
  const wall = wallOf(timezone, now);
  const time = wall % DAY;
  const overnight = start > end;
  if (overnight ? time < start && time >= end : time < start || time >= end) return null;
  const midnight = wall - time;
  return instantOf(timezone, midnight + end + (overnight && time >= start ? DAY : 0), now);
}

/** The local time at an instant, in milliseconds as if it were UTC. */
function wallOf(timezone: string | null, at: number): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of formatOf(timezone ?? 'UTC').formatToParts(at)) parts[type] = value;
  const { year, month, day, hour, minute, second } = parts;
  const whole = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  return whole + (((at % 1_000) + 1_000) % 1_000);
}

/**
 * The first instant after `after` at which the local time is `wall`. If clocks skip that time, it is later by what they
 * skip; if they show it twice, the first one that is still to come.
 */
function instantOf(timezone: string | null, wall: number, after: number): number {
  const offsets = [wall - DAY, wall + DAY].map((near) => wallOf(timezone, near) - near);
  const candidates = offsets.map((offset) => wall - offset).sort((a, b) => a - b);
  const exact = candidates.filter((at) => wallOf(timezone, at) === wall);
  return exact.find((at) => at > after) ?? candidates.at(-1)!;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  let format = formats.get(timezone);
  if (!format) {
    format = createFormat(timezone) ?? formatOf('UTC');
    formats.set(timezone, format);
  }
  return format;
}

function createFormat(timeZone: string): Intl.DateTimeFormat | null {
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', minute: 'numeric', second: 'numeric' } as const;
  try {
    return new Intl.DateTimeFormat('en-US-u-ca-iso8601', { timeZone, hour: 'numeric', hourCycle: 'h23', ...numeric });
  } catch {
    return null;
  }
}

/** With more alerts within the window, a channel gets digests. */
export const BURST_LINES = 60;
/** How far back those alerts are counted. */
export const BURST_WINDOW_MS = 10 * MINUTE;
/** Between the last alert of a burst and its first digest; each further digest doubles it. */
const BURST_PAUSE = { first: 10_000, most: 5 * MINUTE };
/** How far back those digests are counted. */
export const BURST_MEMORY_MS = 30 * MINUTE;

/**
 * Until when a channel's next alerts are collected, after `lines` alerts in the window that ended with the last of them at
 * `lastAt`, and after this many digests of the burst; null: they are posted one by one. If the time has passed, a digest is
 * due.
 */
export function burstUntil(posted: { lines: number; digests: number; lastAt: number }, now: number): number | null {
  const { lines, digests, lastAt } = posted;
  // If `lastAt` lies in the future because the clock was set back, nothing is held.
  const isOver = now < lastAt || now >= lastAt + BURST_WINDOW_MS;
  if (lines <= BURST_LINES || isOver) return null;
  // Bounded, so that nobody can hide an important alert behind a burst for long.
  return lastAt + Math.min(BURST_PAUSE.first * 2 ** digests, BURST_PAUSE.most);
}
