import type { AddressText } from './address.ts';
import type { Due, Hold } from './hold.ts';
import type { AlertStyle, Perspective } from './subscription.ts';
import type { Transfer } from './transfer.ts';
import type { Warning } from './warning.ts';

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
  transfer: Transfer;
  /** How many equal transfers the transaction holds. */
  count: number;
  /** The transaction was seen in another block first. */
  reorganized: boolean;
  matches: {
    subscription: number;
    perspective: Perspective;
    address: AddressText;
    label: string | null;
    mention: string | null;
    mentionMinimum: string | null;
    mentionCooldown: number;
    mentionedAt: number | null;
  }[];
  warnings: Warning[];
  /** The guild's own names of the transfer's addresses. */
  labels: Partial<Record<AddressText, string>>;
  /** The one that the guild's admins chose, otherwise the guild's locale. */
  language: string | null;
  /** Why it was not posted at once. */
  hold: Hold | null;
  /** How it looks, unless it is suspicious: then it is always `full`. */
  style: AlertStyle;
  /** The explorer's catalog lists the token. */
  isCataloged: boolean;
}

/** What a rendered alert shows that may change until it is frozen. */
export type RenderedAlert = Pick<Alert, 'id' | 'count' | 'reorganized'>;

/** One alert to be posted in one channel when it is due. */
export interface NewAlert extends Due {
  transferKey: string;
  /** The number of its delivery in the inbox. */
  inboxId: number;
  guildId: string;
  channelId: string;
  matches: { subscription: number; perspective: Perspective }[];
  /** What the alert warns of. */
  warnings: Warning[];
}

/** A channel with something new to post, and its guild where that is known. */
export interface AlertTarget {
  channelId: string;
  guildId?: string;
}
