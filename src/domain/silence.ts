import type { AddressText } from './address.ts';
import { HOUR } from './clock.ts';

/** When the silence of a busy address is worth a notice. */
export interface SilenceRule {
  /** How many events make an address busy. */
  events: number;
  /** The longest average gap between the events of a busy address. */
  gapMs: number;
  /** It is silent after this many average gaps, but not before `leastMs`. */
  gaps: number;
  leastMs: number;
}

/** 20 events at most 2 hours apart make an address busy; it is silent after 12 gaps, but not before 6 hours. */
export const SILENCE_RULE: SilenceRule = { events: 20, gapMs: 2 * HOUR, gaps: 12, leastMs: 6 * HOUR };

/** A busy address that has gone quiet. */
export interface Silence {
  subscription: number;
  guildId: string;
  channelId: string;
  address: AddressText;
  label: string | null;
  lastEventAt: number;
  /** The average gap between two events. */
  gapMs: number;
  /** When the guild's project last brought an event of any address; null if none is known. */
  feedAt: number | null;
}

/** Whether no address had an event: then the feed may be down, not just this address quiet. */
export function isFeedSilent({ gapMs, feedAt }: Pick<Silence, 'gapMs' | 'feedAt'>, now: number): boolean {
  const { gaps, leastMs } = SILENCE_RULE;
  return feedAt === null || now - feedAt >= Math.max(leastMs, gaps * gapMs);
}
