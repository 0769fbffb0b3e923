import type { AddressText } from './address.ts';
import { DAY } from './clock.ts';
import type { AlertStyle, Perspective } from './subscription.ts';
import type { Transfer } from './transfer.ts';

/** An alert as it is rendered: one transfer, with every subscription of the channel that it matched. */
export interface Alert {
  id: number;
  guildId: string;
  channelId: string;
  createdAt: number;
  /** When the transfer's first delivery arrived. */
  receivedAt: number;
  /** The number in the inbox of the delivery that led to the alert; null: a sample, or stored before this was recorded. */
  inboxId: number | null;
  network: number;
  transfer: Transfer;
  /** How many equal transfers the transaction holds. */
  count: number;
  reorganized: boolean;
  matches: {
    subscription: number;
    perspective: Perspective;
    isKnown: boolean;
    address: AddressText;
    label: string | null;
    mention: string | null;
    mayMention: boolean;
    minimumUsd: string | null;
    mentionMinimum: string | null;
    mentionMinimumUsd: string | null;
    mentionCooldown: number;
    /** When the last alert as significant as this one did. */
    mentionedAt: number | null;
    /** It shows what the transfer left to the address. */
    showsBalance?: boolean;
  }[];
  warnings: Warning[];
  labels: Partial<Record<AddressText, string>>;
  /** The one that the guild's admins chose, otherwise the guild's locale. */
  language: string | null;
  hold: Hold | null;
  /** How it looks, unless it is suspicious: then it is always `full`. */
  style: AlertStyle;
  isCataloged: boolean;
  /** See `significance.ts`: it is sent before other alerts, in messages of its own. */
  isSignificant: boolean;
}

/** Equal for alerts of one transaction; the chains of two networks may have one with the same hash. */
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

/** One alert to be posted in one channel when it is due. */
export interface NewAlert extends Due {
  transferKey: string;
  inboxId: number;
  guildId: string;
  channelId: string;
  matches: StoredMatch[];
  isSignificant: boolean;
  warnings: Warning[];
}

/** A channel with something new to post, and its guild where that is known. */
export interface AlertTarget {
  channelId: string;
  guildId?: string;
}

/** What an alert warns of, or what is uncertain about it. `isRepeat`: its channel got the same warning less than an hour before. */
export type Warning =
  /** `address` has the first and last digits of `like`, which is labeled here or a recent counterparty. */
  | { kind: 'look-alike'; address: AddressText; like: AddressText; label: string | null; isRepeat?: true }
  /** The token copies the symbol of a known one; `genuine` null: the native coin's. */
  | { kind: 'imitation'; symbol: string; genuine: AddressText | null; isRepeat?: true }
  | { kind: 'uncataloged' }
  /** The explorer could not be asked whether its catalog lists the token; `isCrowded`: because there were too many. */
  | { kind: 'unchecked'; isCrowded?: true }
  /** It arrived late, on a retry; `ms`: how long after events of later blocks. */
  | { kind: 'late'; ms: number }
  /** The service did not deliver it: it was found on the chain, `ms` after it happened. */
  | { kind: 'found'; ms: number }
  /** Its body names a different project than the one whose receiver URL it arrived at. */
  | { kind: 'other-project'; projectId: string };

/** Why an alert is not posted at once. */
export type Hold = 'hourly' | 'daily' | 'quiet';

/** The longest hold: a daily digest, then quiet hours. */
export const MAX_HOLD_MS = 3 * DAY;

/** Why alerts are posted as a digest. */
export type DigestReason = Hold | 'backlog' | 'burst';

/** When a subscription's alerts are posted. */
export interface DeliverySchedule {
  digest: 'hourly' | 'daily' | null;
  /** `22:00-07:00` in the guild's time zone. */
  quiet: string | null;
}

export const mayHold = ({ digest, quiet }: DeliverySchedule): boolean => digest !== null || quiet !== null;

/** When an alert may be posted: at once (`hold` null, `dueAt` 0), or from `dueAt` on. */
export interface Due {
  hold: Hold | null;
  dueAt: number;
}
