/** Times as Discord writes them. */
const clock = new Intl.DateTimeFormat('en-US', { hour: 'numeric', minute: '2-digit' });
const seconds = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat('en-US', { month: '2-digit', day: '2-digit', year: 'numeric' });
const longDay = new Intl.DateTimeFormat('en-US', { dateStyle: 'long' });
const long = new Intl.DateTimeFormat('en-US', { dateStyle: 'full', timeStyle: 'short' });
const middle = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat('en-US', { numeric: 'auto' });

/** `10:31 AM`. */
export const shortTime = (at: number): string => clock.format(at);
/** `10:31:02`. */
export const exactTime = (at: number): string => seconds.format(at);
/** For tooltips: `Thursday, November 21, 2030 at 10:31 AM`. */
export const longTime = (at: number): string => long.format(at);
/** `November 21, 2030`. */
export const dayName = (at: number): string => longDay.format(at);

/** `Today at 10:31 AM`. */
export function messageTime(at: number): string {
  const midnight = new Date().setHours(0, 0, 0, 0);
  if (at >= midnight) return `Today at ${clock.format(at)}`;
  if (at >= midnight - 86_400_000) return `Yesterday at ${clock.format(at)}`;
  return `${day.format(at)} ${clock.format(at)}`;
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** `5 minutes ago`, `in 2 hours`. */
function relativeTime(at: number): string {
  const away = (at - Date.now()) / 1000;
  const [unit, size] = steps.find(([, length]) => Math.abs(away) >= length) ?? ['second', 1];
  return relative.format(Math.round(away / size), unit);
}

/** A timestamp of Discord's Markdown; `style` is its letter. */
export function styledTime(at: number, style: string): string {
  switch (style) {
    case 't':
      return clock.format(at);
    case 'T':
      return new Intl.DateTimeFormat('en-US', { timeStyle: 'medium' }).format(at);
    case 'd':
      return day.format(at);
    case 'D':
      return longDay.format(at);
    case 'F':
      return long.format(at);
    case 'R':
      return relativeTime(at);
    default:
      return middle.format(at);
  }
}

/** `+0.4 s`, `+2 min`. */
export function later(ms: number): string {
  if (ms < 60_000) return `+${(Math.max(0, ms) / 1000).toFixed(ms < 10_000 ? 1 : 0)}\u00a0s`;
  return `+${Math.round(ms / 60_000)}\u00a0min`;
}
