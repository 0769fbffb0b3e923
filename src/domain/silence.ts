import type { AddressText } from './address.ts';
import { HOUR } from './clock.ts';
import { isMuted, type Subscription } from './subscription.ts';

/** What makes an address busy: at least this many `events`, on average at most `gapMs` apart. */
export const BUSY = { events: 20, gapMs: 2 * HOUR };
/** A busy address is silent after this many average gaps, but not before `minMs`. */
const SILENT = { gaps: 12, minMs: 6 * HOUR };

/** A busy address that has gone quiet. */
export interface Silence {
  subscription: number;
  guildId: string;
  channelId: string;
  address: AddressText;
  label: string | null;
  mutedUntil: Subscription['mutedUntil'];
  lastEventAt: number;
  /** The average gap between two events. */
  gapMs: number;
  /** When the guild's project last brought an event of any address; null if none is known. */
  feedAt: number | null;
}

/** Whether a busy address is silent now. */
export const isSilent = ({ gapMs, lastEventAt }: Pick<Silence, 'gapMs' | 'lastEventAt'>, now: number): boolean =>
  now - lastEventAt >= Math.max(SILENT.minMs, SILENT.gaps * gapMs);

/** Whether the silence of a busy address is worth a notice now. */
export const deservesNotice = (busy: Omit<Silence, 'feedAt'>, now: number): boolean =>
  isSilent(busy, now) && !isMuted(busy, now);

/** Whether no address had an event: then the feed may be down, not just this address quiet. */
export const isFeedSilent = ({ gapMs, feedAt }: Pick<Silence, 'gapMs' | 'feedAt'>, now: number): boolean =>
  feedAt === null || isSilent({ gapMs, lastEventAt: feedAt }, now);
