import { DAY, HOUR, MINUTE } from './clock.ts';

/** Why a line is not told at once. */
export type Hold = 'hourly' | 'daily' | 'quiet';

/** Why lines are told together instead of one by one. */
export type DigestReason = Hold | 'backlog' | 'burst';

/** When a subscription wants to be told. */
export interface Rhythm {
  digest: 'hourly' | 'daily' | null;
  /** `22:00-07:00` in the guild's time zone. */
  quiet: string | null;
}

/** When a line may be told: at once (`hold` null, `dueAt` 0), or not before `dueAt`. */
export interface Due {
  hold: Hold | null;
  /** Milliseconds since 1970. */
  dueAt: number;
}

/** `hold` null: at once. */
const AT_ONCE: Due = { hold: null, dueAt: 0 };

/**
 * When a line is told that these subscriptions of one channel ask for: as soon as the first of them wants it. An unknown
 * time zone counts as UTC.
 */
export function dueOf(rhythms: Rhythm[], timezone: string | null, now: number): Due {
  const dues = rhythms.map((rhythm) => dueOfOne(rhythm, timezone, now));
  return dues.reduce((first, due) => (due.dueAt < first.dueAt ? due : first), dues[0] ?? AT_ONCE);
}

function dueOfOne({ digest, quiet }: Rhythm, timezone: string | null, now: number): Due {
  const told = digest === null ? now : endOf(digest, timezone, now);
  const awake = quiet === null ? null : quietUntil(quiet, timezone, told);
  // What would be told in the quiet hours is told after them, and a daily digest stays one.
  if (awake !== null) return { hold: digest === 'daily' ? 'daily' : 'quiet', dueAt: awake };
  return digest === null ? AT_ONCE : { hold: digest, dueAt: told };
}

function endOf(period: 'hourly' | 'daily', timezone: string | null, now: number): number {
  const wall = wallOf(timezone, now);
  if (period === 'hourly') return now + HOUR - (wall % HOUR);
  return instantOf(timezone, wall - (wall % DAY) + DAY, now);
}

/** When the quiet hours end in which `now` lies; null outside of them. */
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

/** What the time zone's clocks show at an instant, in milliseconds as if it were UTC. */
function wallOf(timezone: string | null, at: number): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of formatOf(timezone ?? 'UTC').formatToParts(at)) parts[type] = value;
  const { year, month, day, hour, minute, second } = parts;
  const whole = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  return whole + (((at % 1_000) + 1_000) % 1_000);
}

/**
 * The first instant after `after` at which the clocks show `wall`. Where they skip it, as much later as they skip; where
 * they show it twice, the first time that is still to come.
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

/** Lines within the window above which a channel is told digests. */
export const BURST_LINES = 60;
/** How far back those lines are counted. */
export const BURST_WINDOW_MS = 10 * MINUTE;
/** Between the last line and the first digest of a channel in which too much happens; each further one doubles it. */
const BURST_PAUSE = { first: 10_000, most: 5 * MINUTE };
/** How far back those digests are counted. */
export const BURST_MEMORY_MS = 30 * MINUTE;

/**
 * Until when the next lines of a channel are gathered, when `lines` were told in the window that ended with the last of
 * them at `lastAt`, after so many digests of this kind; null: they are told one by one. A time that has passed means
 * that a digest is due.
 */
export function burstUntil(told: { lines: number; digests: number; lastAt: number }, now: number): number | null {
  const { lines, digests, lastAt } = told;
  // After the clock was set back, `lastAt` lies in the future: nothing is held back until then.
  const isOver = now < lastAt || now >= lastAt + BURST_WINDOW_MS;
  if (lines <= BURST_LINES || isOver) return null;
  // Nobody shall hide what matters behind a burst for minutes.
  return lastAt + Math.min(BURST_PAUSE.first * 2 ** digests, BURST_PAUSE.most);
}
