import type { AddressText } from './address.ts';
import { DAY, MINUTE } from './clock.ts';
import type { AlertStyle, Choices, Perspective } from './subscription.ts';
import { isLessThan, isWorthLess, type Transfer } from './transfer.ts';

export interface Alert {
  id: number;
  guildId: string;
  channelId: string;
  createdAt: number;
  /** When the transfer's first delivery arrived. */
  receivedAt: number;
  /** null: a sample, or stored before this was recorded. */
  inboxId: number | null;
  network: number;
  transfer: Transfer;
  /** How many equal transfers the transaction holds. */
  count: number;
  reorganized: boolean;
  matches: AlertMatch[];
  warnings: Warning[];
  labels: Partial<Record<AddressText, string>>;
  language: string | null;
  hold: Hold | null;
  /** A suspicious transfer is always shown as `full`. */
  style: AlertStyle;
  isCataloged: boolean;
  /** Sent before other alerts, in messages of its own. */
  isSignificant: boolean;
}

/** The chains of two networks may have a transaction with the same hash. */
export const transactionOf = ({
  network,
  transfer: { txHash },
}: Pick<Alert, 'network'> & { transfer: Pick<Transfer, 'txHash'> }): string => `${network} ${txHash}`;

/** What a rendered alert shows that may change until it is frozen. */
export type RenderedAlert = Pick<Alert, 'id' | 'count' | 'reorganized'>;

export interface StoredMatch {
  subscription: number;
  perspective: Perspective;
  /** The asset is the coin, cataloged, or one that the subscription names: nobody made it up. */
  isKnown: boolean;
  mayMention: boolean;
}

export interface AlertMatch
  extends StoredMatch,
    Pick<Choices, 'label' | 'mention' | 'minimumUsd' | 'mentionMinimum' | 'mentionMinimumUsd' | 'mentionCooldown'> {
  address: AddressText;
  /** By an alert as significant as this one. */
  mentionedAt: number | null;
  showsBalance?: boolean;
}

export interface NewAlert extends Due {
  transferKey: string;
  inboxId: number;
  guildId: string;
  channelId: string;
  matches: StoredMatch[];
  isSignificant: boolean;
  warnings: Warning[];
}

export interface AlertTarget {
  channelId: string;
  guildId: string;
}

/** `isRepeat`: the channel got the same warning less than an hour before. */
export type Warning =
  /** `address` has the first and last digits of `like`, which is labeled here or a recent counterparty. */
  | { kind: 'look-alike'; address: AddressText; like: AddressText; label: string | null; isRepeat?: true }
  /** The token copies the symbol of a known one; `genuine` null: the native coin's. */
  | { kind: 'imitation'; symbol: string; genuine: AddressText | null; isRepeat?: true }
  | { kind: 'uncataloged' }
  /** `isCrowded`: the explorer was not asked, because there were too many tokens. */
  | { kind: 'unchecked'; isCrowded?: true }
  /** It arrived late, on a retry; `ms`: how long after events of later blocks. */
  | { kind: 'late'; ms: number }
  /** The service did not deliver it: it was found on the chain, `ms` after it happened. */
  | { kind: 'found'; ms: number }
  /** Its body names a different project than the one whose receiver URL it arrived at. */
  | { kind: 'other-project'; projectId: string };

export type Hold = 'hourly' | 'daily' | 'quiet';

/** The longest hold: a daily digest, then quiet hours. */
export const MAX_HOLD_MS = 3 * DAY;

export type DigestReason = Hold | 'backlog' | 'burst';

export type DeliverySchedule = Pick<Choices, 'digest' | 'quiet'>;

export const mayHold = ({ digest, quiet }: DeliverySchedule): boolean => digest !== null || quiet !== null;

/** At once: `hold` null and `dueAt` 0. */
export interface Due {
  hold: Hold | null;
  dueAt: number;
}

const MAX_ROLES = 20;

export interface Mentioning {
  subscription: number;
  isSignificant: boolean;
}

/** An amount that cannot be compared with the minimum, or has no price, counts as large enough. */
export function mentionsOf(alerts: readonly Alert[], now: number): { roles: string[]; mentioning: Mentioning[] } {
  const roles = new Set<string>();
  const mentioning = new Map<string, Mentioning>();
  for (const { transfer, count, matches, isSignificant } of alerts) {
    // The chain does not have it.
    if (count === 0) continue;
    for (const {
      mention,
      mentionMinimum,
      mentionMinimumUsd,
      subscription,
      mayMention,
      mentionedAt,
      ...match
    } of matches) {
      if (mention === null || !mayMention) continue;
      if (mentionMinimum !== null && isLessThan(mentionMinimum, transfer)) continue;
      if (mentionMinimumUsd !== null && isWorthLess(mentionMinimumUsd, transfer)) continue;
      // A clock that was ahead may have dated the last mention in the future. That must not delay the next one.
      if (mentionedAt !== null && Math.abs(now - mentionedAt) < match.mentionCooldown * MINUTE) continue;
      if (roles.size === MAX_ROLES && !roles.has(mention)) continue;
      roles.add(mention);
      mentioning.set(`${subscription} ${isSignificant}`, { subscription, isSignificant });
    }
  }
  return { roles: [...roles], mentioning: [...mentioning.values()] };
}
