/** A period in which the bot could not work: it was stopped, could not send, or the clock jumped. */
export interface Pause {
  from: number;
  until: number;
}

/** The time since which the bot could work for `ms` in total; `pauses` do not overlap and are in order. */
export function uptimeSince(now: number, ms: number, pauses: readonly Pause[]): number {
  let since = now - ms;
  for (const { from, until } of pauses.toReversed()) {
    const end = Math.min(until, now);
    if (end <= since) break;
    if (end > from) since -= end - from;
  }
  return since;
}

/** Adds a pause at the end, which may touch the last one. */
export function addPause(pauses: readonly Pause[], { from, until }: Pause): Pause[] {
  const last = pauses.at(-1);
  if (until <= from) return [...pauses];
  if (!last || last.until < from) return [...pauses, { from, until }];
  return [...pauses.slice(0, -1), { from: Math.min(last.from, from), until: Math.max(last.until, until) }];
}

/** The pauses up to a time. Time after it, from a clock that was ahead, does not count. */
export const pausesUntil = (pauses: readonly Pause[], time: number): Pause[] =>
  pauses.filter(({ from }) => from < time).map(({ from, until }) => ({ from, until: Math.min(until, time) }));
