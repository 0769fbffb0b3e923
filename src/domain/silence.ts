import { HOUR } from './clock.ts';
import { isMuted, type Subscription } from './subscription.ts';

/** At least this many `events`, on average at most `gapMs` apart. */
export const BUSY = { events: 20, gapMs: 2 * HOUR };
/** After this many average gaps, but not before `minMs`. */
const SILENT = { gaps: 12, minMs: 6 * HOUR };

export interface Silence extends Pick<Subscription, 'guildId' | 'channelId' | 'address' | 'label' | 'mutedUntil'> {
  subscription: number;
  lastEventAt: number;
  gapMs: number;
  /** When the guild's project last had an event of any address; null: unknown. */
  feedAt: number | null;
}

export const isSilent = ({ gapMs, lastEventAt }: Pick<Silence, 'gapMs' | 'lastEventAt'>, now: number): boolean =>
  now - lastEventAt >= Math.max(SILENT.minMs, SILENT.gaps * gapMs);

export const deservesNotice = (busy: Omit<Silence, 'feedAt'>, now: number): boolean =>
  isSilent(busy, now) && !isMuted(busy, now);

/** True: the feed may be down, not just this address quiet. */
export const isFeedSilent = ({ gapMs, feedAt }: Pick<Silence, 'gapMs' | 'feedAt'>, now: number): boolean =>
  feedAt === null || isSilent({ gapMs, lastEventAt: feedAt }, now);

/** Events closer together than this count as one movement, such as the transfers of one transaction. */
const MOVEMENT_MS = 10_000;

export interface ActivityStats {
  events: number;
  lastEventAt: number;
  /** Between two movements, in milliseconds; the latest count most. Null before the second movement. */
  gapMs: number | null;
}

/** An event that arrives late does not move `lastEventAt` back. */
export function afterEvent(before: ActivityStats | undefined, at: number): ActivityStats {
  if (!before) return { events: 1, lastEventAt: at, gapMs: null };
  const { events, lastEventAt, gapMs } = before;
  const elapsed = at - lastEventAt;
  const averaged = gapMs === null ? elapsed : Math.trunc(0.8 * gapMs + 0.2 * elapsed);
  return {
    events: events + 1,
    lastEventAt: Math.max(lastEventAt, at),
    gapMs: elapsed < MOVEMENT_MS ? gapMs : averaged,
  };
}
