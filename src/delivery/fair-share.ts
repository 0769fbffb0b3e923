import { PER_SECOND } from './request-window.ts';

/** How many of the latest slots a guild gets before the others take precedence. */
const FAIR_SHARE = PER_SECOND / 5;

/** Counts which guilds got the latest slots, about a second's worth of them. */
export function createFairShare() {
  const latest: string[] = [];
  const slots = new Map<string, number>();

  function count(guildId: string, change: 1 | -1): void {
    const had = (slots.get(guildId) ?? 0) + change;
    if (had === 0) slots.delete(guildId);
    else slots.set(guildId, had);
  }

  return {
    /** Records that a channel of the guild got a slot. */
    record(guildId: string): void {
      latest.push(guildId);
      count(guildId, 1);
      if (latest.length > PER_SECOND) count(latest.shift()!, -1);
    },
    isExceeded: (guildId: string | null): boolean => guildId !== null && (slots.get(guildId) ?? 0) > FAIR_SHARE,
  };
}
