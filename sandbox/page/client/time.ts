/** Times as Discord writes them, in the language of the person whose eyes the page uses. */
import { DAY, MINUTE, SECOND } from '../../../src/domain/durations.ts';

interface Formats {
  locale: string;
  clock: Intl.DateTimeFormat;
  clockWithSeconds: Intl.DateTimeFormat;
  day: Intl.DateTimeFormat;
  longDay: Intl.DateTimeFormat;
  long: Intl.DateTimeFormat;
  middle: Intl.DateTimeFormat;
  relative: Intl.RelativeTimeFormat;
  /** The separator between a day and a time of day. */
  joiner: string;
}

let formats = formatsFor('en-US');

/** Uses this language from now on: a BCP 47 tag, as Discord's are. */
export function setTimeLocale(locale: string): void {
  if (locale !== formats.locale) formats = formatsFor(locale);
}

function formatsFor(locale: string): Formats {
  const date = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options);
  return {
    locale,
    clock: date({ hour: 'numeric', minute: '2-digit' }),
    clockWithSeconds: date({ timeStyle: 'medium' }),
    day: date({ month: '2-digit', day: '2-digit', year: 'numeric' }),
    longDay: date({ dateStyle: 'long' }),
    long: date({ dateStyle: 'full', timeStyle: 'short' }),
    middle: date({ dateStyle: 'long', timeStyle: 'short' }),
    relative: new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }),
    joiner: locale.startsWith('en') ? ' at ' : ', ',
  };
}

const seconds = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** `10:31 AM`. */
export const shortTime = (at: number): string => formats.clock.format(at);
/** `10:31:02`, for the panel, which is English for everybody. */
export const exactTime = (at: number): string => seconds.format(at);
/** For tooltips: `Thursday, November 21, 2030 at 10:31 AM`. */
export const longTime = (at: number): string => formats.long.format(at);
/** `November 21, 2030`. */
export const dayName = (at: number): string => formats.longDay.format(at);

/** When today began. */
export const midnight = (): number => new Date().setHours(0, 0, 0, 0);

/** `Today at 10:31 AM`, `Heute, 10:31`. */
export function messageTime(at: number): string {
  const today = midnight();
  const { clock, day, relative, joiner } = formats;
  if (at < today - DAY) return `${day.format(at)} ${clock.format(at)}`;
  const word = relative.format(at >= today ? 0 : -1, 'day');
  return `${word[0]!.toUpperCase()}${word.slice(1)}${joiner}${clock.format(at)}`;
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** `5 minutes ago`, `in 2 hours`. */
function relativeTime(at: number): string {
  const away = (at - Date.now()) / SECOND;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(away) >= length) ?? ['second', 1];
  return formats.relative.format(Math.round(away / size), unit);
}

/** A timestamp of Discord's Markdown; `style` is its letter. */
export function styledTime(at: number, style: string): string {
  switch (style) {
    case 't':
      return formats.clock.format(at);
    case 'T':
      return formats.clockWithSeconds.format(at);
    case 'd':
      return formats.day.format(at);
    case 'D':
      return formats.longDay.format(at);
    case 'F':
      return formats.long.format(at);
    case 'R':
      return relativeTime(at);
    default:
      return formats.middle.format(at);
  }
}

/** `+0.4 s`, `+2 min`. */
export function later(ms: number): string {
  if (ms < MINUTE) return `+${(Math.max(0, ms) / SECOND).toFixed(ms < 10 * SECOND ? 1 : 0)}\u00a0s`;
  return `+${Math.round(ms / MINUTE)}\u00a0min`;
}
