import type { AddressText } from './address.ts';
import { type HiddenReason, matchTransfer } from './match.ts';
import type { Choices, Perspective, Subscription } from './subscription.ts';
import type { Transfer } from './transfer.ts';

/** The part of a subscription that decides what is posted. */
export type Wish = Choices & Pick<Subscription, 'guildId' | 'address'>;

/** What a subscription would have posted in the past. */
export interface Rehearsal {
  /** Transfers of its address. */
  related: number;
  posted: number;
  /** How many transfers each rule would have hidden. */
  hidden: Partial<Record<HiddenReason, number>>;
  /** The latest transfers that it would have posted. */
  examples: { transfer: Transfer; perspective: Perspective; seenAt: number }[];
  /** When the oldest of the transfers that were looked through came; null if there was none. */
  since: number | null;
  /** How many were looked through, if there were more; else null. */
  cut: number | null;
}

/** Which transfers are looked for: those that a guild's project brought from `since` to `until`. */
export interface RecentQuery {
  guildId: string;
  address: AddressText;
  since: number;
  until: number;
  /**
   * Only transfers that the guild's subscriptions in these channels were decided about; null: all of the project. Other
   * guilds' transfers would reveal what they watch.
   */
  channelIds: readonly string[] | null;
}

/** The latest transfers of a guild's project: how many, when the oldest came, and those that involve the address. */
export interface RecentTransfers {
  seen: number;
  oldest: number | null;
  /** `cataloged`: whether the explorer's catalog lists the token; null if that is unknown. */
  involved: { transfer: Transfer; seenAt: number; cataloged: boolean | null }[];
}

const EXAMPLES = 3;
/** Transfers that are looked through at once: the event loop handles other events between two pages. */
const PAGE = 5_000;

/** An active subscription without a past. */
const UNDISTURBED = { id: 0, channelId: '', paused: false, mutedUntil: null } satisfies Partial<Subscription>;

/**
 * Judges what a subscription would have posted in a period, by about the latest `most` transfers; ignores mutes. `read`
 * returns the latest transfers until a time, all of the oldest moment included.
 */
export async function rehearse(
  wish: Wish,
  { since, until, most, channelIds }: Omit<RecentQuery, 'guildId' | 'address'> & { most: number },
  read: (query: RecentQuery, limit: number) => Promise<RecentTransfers>,
): Promise<Rehearsal> {
  const { guildId, address } = wish;
  const rehearsal: Rehearsal = { related: 0, posted: 0, hidden: {}, examples: [], since: null, cut: null };
  let seen = 0;
  for (let to = until; ; ) {
    const page = await read(
      { guildId, address, since, until: to, channelIds },
      Math.max(1, Math.min(PAGE, most - seen)),
    );
    if (page.oldest === null) return rehearsal;
    if (seen >= most) return { ...rehearsal, cut: seen };
    seen += page.seen;
    rehearsal.since = page.oldest;
    for (const one of page.involved) judge(rehearsal, wish, one);
    to = page.oldest - 1;
  }
}

function judge(
  rehearsal: Rehearsal,
  wish: Wish,
  { transfer, seenAt, cataloged }: RecentTransfers['involved'][number],
): void {
  const context = { now: seenAt, tokenMuted: () => false, cataloged: () => cataloged };
  const match = matchTransfer({ ...wish, ...UNDISTURBED }, transfer, context);
  switch (match.outcome) {
    case 'unrelated':
      return;
    case 'hidden':
      rehearsal.related++;
      rehearsal.hidden[match.reason] = (rehearsal.hidden[match.reason] ?? 0) + 1;
      return;
    case 'matched':
      rehearsal.related++;
      rehearsal.posted++;
      if (rehearsal.examples.length < EXAMPLES) {
        rehearsal.examples.push({ transfer, perspective: match.perspective, seenAt });
      }
  }
}
