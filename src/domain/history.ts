import type { AddressText } from './address.ts';
import type { Alert } from './alert.ts';
import type { Batch } from './batch.ts';
import type { ChannelState } from './channel.ts';
import type { DigestReason } from './schedule.ts';
import type { Perspective } from './subscription.ts';
import type { Transfer } from './transfer.ts';
import type { Warning } from './warning.ts';

/** Everything that is recorded of one transfer, as far as it is one guild's business. */
export interface Story {
  transfer: Transfer;
  /** How many equal ones the transaction holds. */
  count: number;
  reorganised: boolean;
  seenAt: number;
  /** It came by the guild's own project. */
  own: boolean;
  /** One for each watcher that it was sent for; null where an earlier version noted nothing. */
  deliveries: {
    received: number;
    seenAt: number;
    lastAt: number | null;
    projectId: string | null;
    addressType: 'wallet' | 'token' | null;
    direction: 'incoming' | 'outgoing' | null;
  }[];
  decisions: StoryDecision[];
  alerts: StoryAlert[];
}

/** What was decided for one subscription. `address` null: the subscription is gone. */
export interface StoryDecision {
  subscription: number;
  channelId: string;
  outcome: string;
  label: string | null;
  address: AddressText | null;
}

/** The transfer's line in one channel, and where it stands. */
export interface StoryAlert {
  channelId: string;
  createdAt: number;
  state: 'waiting' | 'frozen' | 'sent' | 'dead';
  hold: Alert['hold'];
  dueAt: number;
  /** When an operator gave up on it for good; null: nobody did. */
  discardedAt: number | null;
  warnings: Warning[];
  perspectives: Perspective[];
  /** The message that holds it; `lines`: how many alerts it tells, `together`: how many of the same transaction, if it is no digest. */
  message: {
    kind: Batch['kind'];
    /** Why it is a digest. */
    reason: DigestReason | null;
    attempts: number;
    frozenAt: number;
    sentAt: number | null;
    messageId: string | null;
    alerts: number;
    together: number;
  } | null;
  channel: { state: ChannelState; dueAt: number; reason: string | null } | null;
  /** Until when the channel's lines are gathered, because there were too many; null: they are told one by one. */
  gatheredUntil: number | null;
  /** Why it was given up. */
  dead: { reason: string; at: number } | null;
}
