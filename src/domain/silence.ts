import type { AddressText } from './address.ts';
import { HOUR } from './clock.ts';

/** Events from which on an address has a rhythm. */
export const RHYTHM_EVENTS = 20;
/** The longest usual gap of an address whose silence says something. */
export const RHYTHM_GAP_MS = 2 * HOUR;

/** An address that usually moves every hour or so, and has not for long. */
export interface Silence {
  subscription: number;
  guildId: string;
  channelId: string;
  address: AddressText;
  label: string | null;
  lastEventAt: number;
  /** The usual time between two events. */
  gapMs: number;
  /** When the last event of any address came by the guild's project; null: none is known. */
  feedAt: number | null;
}

/** How long silence of an address with this usual gap is still ordinary. */
export const patienceMs = (gapMs: number): number => Math.max(6 * HOUR, 12 * gapMs);

/** Whether nothing at all came: the feed may be dead, not just this address quiet. */
export function isFeedSilent({ gapMs, feedAt }: Pick<Silence, 'gapMs' | 'feedAt'>, now: number): boolean {
  return feedAt === null || now - feedAt >= patienceMs(gapMs);
}
