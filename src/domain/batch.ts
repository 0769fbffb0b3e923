import type { Alert, RenderedAlert } from './alert.ts';
import type { DigestReason } from './schedule.ts';

/** Where a message is, and the reference that it bears. */
export interface MessageRef {
  channelId: string;
  reference: string;
}

/** A sent message that others of its transaction may join. */
export interface Joinable {
  id: number;
  txHash: string;
  reference: string;
  messageId: string;
  /** JSON of the body that the message was created with. */
  payload: string;
  alerts: Alert[];
}

/** Alerts of a channel that are to be told now. */
export interface DueAlerts {
  /** The oldest; those of one transaction follow each other. */
  alerts: Alert[];
  /** How many are due altogether, and when the oldest of them was made. */
  waiting: number;
  oldest: number;
  /** How many transactions they belong to; counted up to one more than a backlog has. */
  transactions: number;
  /** Why they are told together; null: line by line. */
  reason: DigestReason | null;
}

/** One message, as it was frozen. An `edit` changes the message with the same reference. */
export interface Batch {
  id: number;
  channelId: string;
  kind: 'create' | 'digest' | 'notice' | 'edit';
  nonce: string;
  reference: string;
  /** JSON of the request's body; null: an edit that is rendered when it is sent. */
  payload: string | null;
  /** Text of the attached CSV file. */
  attachment: string | null;
  attempts: number;
  /** Discord may have taken it although no answer said so. */
  unsure: boolean;
  frozenAt: number;
  firstSentAt: number | null;
  messageId: string | null;
}

/** A message to be rendered anew, as it was told. */
export interface Original {
  messageId: string | null;
  /** Why it is a digest; null: lines. */
  reason: DigestReason | null;
  /** It is a single line as plain text. */
  plain: boolean;
  /** JSON of the body that the message was created with. */
  payload: string;
  /** What it tells, as that is known now; of a digest nothing. */
  alerts: Alert[];
  /** Of a digest the ids of its alerts: they may be too many to be read in one step. */
  ids: number[];
}

/** Which deliveries a message shows, for the log and the metrics. */
export interface ShownDeliveries {
  /** Numbers in the inbox, and hashes of the transactions: the first ones of many. */
  inboxIds: number[];
  txHashes: string[];
  /** When the oldest one came, of those that were not held back on purpose; null: there is none. */
  receivedAt: number | null;
}

/** How many deliveries of a message the log names. */
export const MOST_SHOWN = 50;

/** The deliveries of these alerts. */
export function shownDeliveries(
  alerts: readonly Pick<Alert, 'inboxId' | 'receivedAt' | 'hold' | 'transfer'>[],
): ShownDeliveries {
  const times = alerts.filter(({ hold }) => hold === null).map(({ receivedAt }) => receivedAt);
  const first = alerts.slice(0, MOST_SHOWN);
  return {
    inboxIds: first.flatMap(({ inboxId }) => inboxId ?? []),
    txHashes: [...new Set(first.map(({ transfer }) => transfer.txHash))],
    receivedAt: times.reduce<number | null>((oldest, time) => (oldest === null || time < oldest ? time : oldest), null),
  };
}

/** What is fixed before the first byte is sent. */
export interface NewBatch extends Pick<Batch, 'channelId' | 'nonce' | 'reference' | 'attachment'> {
  kind: 'create' | 'digest';
  /** JSON of the request's body. */
  payload: string;
  /** One alert as text without an embed. */
  plain: boolean;
  /** Why it is a digest. */
  reason: DigestReason | null;
  /** What it tells, as it was rendered. */
  alerts: RenderedAlert[];
  /** The subscriptions for which it mentions a role. */
  mentioning: number[];
}

/** How a channel takes what is next: how many alerts, and whether a sent message may be changed now. */
export interface ClaimOptions {
  limit: number;
  /** Without the others of their transactions. */
  alone: boolean;
  mayChange: boolean;
}

/** What a channel is to be sent next. */
export type NextMessage =
  /** A frozen message of this many `alerts`; `original`: the message that an edit changes, if there is one. */
  | { status: 'batch'; batch: Batch; alerts: number; shown: ShownDeliveries; original: Original | null }
  /** `joins`: sent messages in which transactions of the alerts were told. */
  | ({ status: 'alerts'; joins: Joinable[] } & DueAlerts)
  /**
   * Nothing until then, or at all, but for `change`: a sent message waits until it may be changed. `burst`: alerts are
   * collected for a digest until then.
   */
  | { status: 'nothing'; until: number | null; change: boolean; burst: boolean };

/** A line, or a change of a sent message, that Discord refused in every form, or that waited too long. */
export interface DeadLetter {
  id: number;
  /** Of a change: an alert of the message. */
  alertId: number;
  /** 1: the alert was told; what its message should say since then was not. */
  isChange: 0 | 1;
  channelId: string;
  reason: string;
  /** JSON of the request's body; of a change: as the message was sent first. Null for a digest, and if none was made. */
  payload: string | null;
  at: number;
  /** JSON of the transfer, as the ledger has it. */
  transfer: string | null;
}

/** A message about something other than transfers, as it is to be frozen. */
export interface Notice extends Pick<Batch, 'channelId' | 'nonce' | 'reference'> {
  guildId: string;
  /** JSON of the request's body. */
  payload: string;
  now: number;
  /** The channel that it reports as closed: the notice is dropped if that opens before it was sent. Null: no channel. */
  aboutChannelId: string | null;
}
