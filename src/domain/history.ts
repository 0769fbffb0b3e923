import type { AddressText } from './address.ts';
import type { Alert } from './alert.ts';
import type { Batch } from './batch.ts';
import type { ChannelState } from './channel.ts';
import type { DigestReason } from './hold.ts';
import type { Perspective } from './subscription.ts';
import type { Transfer } from './transfer.ts';
import type { Warning } from './warning.ts';

/** Everything that is recorded about one transfer and concerns one guild. */
export interface TransferHistory {
  transfer: Transfer;
  /** How many equal ones the transaction holds. */
  count: number;
  reorganized: boolean;
  seenAt: number;
  /** It is from the guild's own project. */
  own: boolean;
  /** One for each watched address that it was sent for. A field is null if an earlier version did not record it. */
  deliveries: {
    received: number;
    seenAt: number;
    lastAt: number | null;
    projectId: string | null;
    addressType: 'wallet' | 'token' | null;
    direction: 'incoming' | 'outgoing' | null;
  }[];
  decisions: RecordedDecision[];
  alerts: RecordedAlert[];
}

/** What was decided for one subscription. `address` null: the subscription is gone. */
export interface RecordedDecision {
  subscription: number;
  channelId: string;
  outcome: string;
  label: string | null;
  address: AddressText | null;
}

/** The transfer's alert in one channel, and its state. */
export interface RecordedAlert {
  channelId: string;
  createdAt: number;
  state: 'waiting' | 'frozen' | 'sent' | 'dead';
  hold: Alert['hold'];
  dueAt: number;
  /** When an operator discarded it; null: nobody did. */
  discardedAt: number | null;
  warnings: Warning[];
  perspectives: Perspective[];
  /**
   * Its message. `alerts`: how many it contains; `together`: how many are of the same transaction, unless it is a
   * digest.
   */
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
  /** Until when the channel's alerts are collected, because there were too many; null: they are posted one by one. */
  collectingUntil: number | null;
  /** Why it is a dead letter. */
  dead: { reason: string; at: number } | null;
}
