/** Times as Discord writes them, in the language of the person whose eyes the page uses. */
import { DAY, MINUTE, SECOND } from '../../../src/domain/units.ts';

let formats = formatsFor('en-US');

/** A BCP 47 tag. */
export function setTimeLocale(locale: string): void {
  if (locale !== formats.locale) formats = formatsFor(locale);
}

function formatsFor(locale: string) {
  const date = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options);
  return {
    locale,
    /** By the letters of Discord's Markdown. */
    t: date({ hour: 'numeric', minute: '2-digit' }),
    T: date({ timeStyle: 'medium' }),
    d: date({ month: '2-digit', day: '2-digit', year: 'numeric' }),
    D: date({ dateStyle: 'long' }),
    F: date({ dateStyle: 'full', timeStyle: 'short' }),
    f: date({ dateStyle: 'long', timeStyle: 'short' }),
    relative: new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }),
    /** Between a day and a time of day. */
    joiner: locale.startsWith('en') ? ' at ' : ', ',
  };
}

const seconds = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

export const shortTime = (at: number): string => formats.t.format(at);
/** `10:31:02`, for the panel, which is English for everybody. */
export const exactTime = (at: number): string => seconds.format(at);
/** For tooltips: `Thursday, November 21, 2030 at 10:31 AM`. */
export const longTime = (at: number): string => formats.F.format(at);
export const dayName = (at: number): string => formats.D.format(at);

export const midnight = (): number => new Date().setHours(0, 0, 0, 0);

/** `Today at 10:31 AM`, `Heute, 10:31`. */
export function messageTime(at: number): string {
  const today = midnight();
  const { t, d, relative, joiner } = formats;
  if (at < today - DAY) return `${d.format(at)} ${t.format(at)}`;
  const word = relative.format(at >= today ? 0 : -1, 'day');
  return `${word[0]!.toUpperCase()}${word.slice(1)}${joiner}${t.format(at)}`;
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

/** `style` is a letter of Discord's Markdown. */
export const styledTime = (at: number, style: string): string =>
  style === 'R' ? relativeTime(at) : formats[style as 'f'].format(at);

/** `+0.4 s`, `+2 min`. */
export function later(ms: number): string {
  if (ms < MINUTE) return `+${(Math.max(0, ms) / SECOND).toFixed(ms < 10 * SECOND ? 1 : 0)}\u00a0s`;
  return `+${Math.round(ms / MINUTE)}\u00a0min`;
}
