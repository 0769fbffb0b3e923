import type { AddressText } from './address.ts';
import type { Alert, DigestReason, Warning } from './alert.ts';
import type { Batch } from './batch.ts';
import type { ChannelState } from './channel.ts';
import type { Perspective } from './subscription.ts';
import type { Transfer } from './transfer.ts';

/** A transaction's transfers that concern a guild. */
export interface HistoryQuery {
  guildId: string;
  txHash: string;
  /** The scopes of the guild's own projects: their transfers count also if they concern none of its subscriptions. */
  ownScopes?: readonly number[];
  /** null, and by default: on any. */
  network?: number | null;
  /** Only those with an alert in this channel; null, and by default: in any or none. */
  channelId?: string | null;
  /** How many of the first are skipped; by default none. */
  skip?: number;
}

/** Everything that is recorded about one transfer and concerns one guild. */
export interface TransferHistory {
  id: number;
  network: number;
  transfer: Transfer;
  /** How many equal ones the transaction holds. */
  count: number;
  reorganized: boolean;
  seenAt: number;
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

export interface RecordedAlert {
  channelId: string;
  createdAt: number;
  state: 'waiting' | 'frozen' | 'sent' | 'dead';
  hold: Alert['hold'];
  dueAt: number;
  /** When an operator discarded it; null: nobody did. */
  discardedAt: number | null;
  warnings: Warning[];
  /**
   * Its message. `alerts`: how many it contains; `together`: how many are of the same transaction, unless it is a
   * digest.
   */
  message: {
    kind: Batch['kind'];
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
  dead: { reason: string; at: number } | null;
}

export interface MessageTransaction {
  network: number;
  txHash: string;
  /** How many of its transfers the message shows. */
  transfers: number;
  /** One of them: a significant one, if there is any. */
  transfer: Transfer;
  /** How the channel's subscriptions see that transfer. */
  perspectives: Perspective[];
}
