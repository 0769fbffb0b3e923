import { Temporal } from 'temporal-polyfill';
import type { DeliverySchedule, Due } from './alert.ts';

export const AT_ONCE: Due = { hold: null, dueAt: 0 };

/** The earliest of the times at which the subscriptions of one channel post. An unknown time zone counts as UTC. */
export function dueOf(schedules: DeliverySchedule[], timezone: string | null, now: number): Due {
  let first: Due | null = null;
  for (const { digest, quiet } of schedules) {
    const postedAt = digest === null ? now : endOf(digest, timezone, now);
    const awake = quiet === null ? null : quietUntil(quiet, timezone, postedAt);
    let due: Due = digest === null ? AT_ONCE : { hold: digest, dueAt: postedAt };
    // What is due in the quiet hours is posted after them, and a daily digest stays one.
    if (awake !== null) due = { hold: digest === 'daily' ? 'daily' : 'quiet', dueAt: awake };
    if (first === null || due.dueAt < first.dueAt) first = due;
  }
  return first ?? AT_ONCE;
}

export const isQuiet = ({ quiet }: Pick<DeliverySchedule, 'quiet'>, timezone: string | null, now: number): boolean =>
  quiet !== null && quietUntil(quiet, timezone, now) !== null;

function endOf(period: 'hourly' | 'daily', timezone: string | null, now: number): number {
  const local = localTime(timezone, now);
  const hour = local.round({ smallestUnit: 'hour', roundingMode: 'floor' });
  const end = period === 'hourly' ? hour.add({ hours: 1 }) : local.startOfDay().add({ days: 1 });
  return end.epochMilliseconds;
}

/** null outside of the quiet hours. */
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
