import type { Alert, DigestReason, Hold, RenderedAlert } from './alert.ts';
import { backOff, MINUTE, SECOND } from './clock.ts';
import type { Mentioning } from './significance.ts';
import type { Transfer } from './transfer.ts';

/** Maximum number of alerts in one message, unless they belong to one transaction. */
export const MAX_ALERTS = 10;
export const MAX_OF_ONE_TRANSACTION = 5_000;

export interface MessageRef {
  channelId: string;
  reference: string;
}

/** Alerts of a transaction join its message for this long; later nobody would see them there. */
export const JOIN_MS = 10 * MINUTE;

/** A sent message that other alerts of its transaction may join. */
export interface Joinable {
  id: number;
  /** See `transactionOf`. */
  transaction: string;
  reference: string;
  messageId: string;
  /** JSON of the body that the message was created with. */
  payload: string;
  alerts: Alert[];
}

/**
 * Alerts of a channel that are posted together: those that are held for the same reason, and of all others the significant
 * ones apart from the rest.
 */
export interface Lane {
  hold: Hold | null;
  isSignificant: boolean;
}

export interface DueAlerts {
  lane: Lane;
  /** The oldest; those of one transaction follow each other. */
  alerts: Alert[];
  /** How many are due in total, and when the oldest of them was created. */
  waiting: number;
  oldest: number;
  /** How many transactions they belong to; counted up to one more than make a backlog. */
  transactions: number;
  /** Why they were collected for a digest; null: they were not. */
  reason: Hold | 'burst' | null;
}

interface FrozenBatch {
  id: number;
  channelId: string;
  reference: string;
  /** Text of the attached CSV file. */
  attachment: string | null;
  attempts: number;
  /** Discord may have accepted it although no response confirmed that. */
  unconfirmed: boolean;
  frozenAt: number;
  firstSentAt: number | null;
  messageId: string | null;
}

export interface PostBatch extends FrozenBatch {
  kind: 'create' | 'digest' | 'notice';
  nonce: string;
  /** JSON of the request's body. */
  payload: string;
}

/** A frozen edit: it changes the message with the same reference. */
export interface EditBatch extends FrozenBatch {
  kind: 'edit';
  /** It creates nothing that Discord could recognize. */
  nonce: null;
  /** JSON of the request's body; null: it is rendered when it is sent. */
  payload: string | null;
}

/**
 * Why a sent message is edited: a transfer changed, an address was renamed, or alerts join the message. A `label` edit is
 * sent after the channel's due alerts, the others before them.
 */
export type EditKind = 'change' | 'label' | 'join';

export type Batch = PostBatch | EditBatch;

/** A sent message that is to be rendered again. */
export interface Original {
  messageId: string | null;
  /** Why it is a digest; null: it shows single alerts. */
  reason: DigestReason | null;
  /** It is a single alert as plain text. */
  plainText: boolean;
  /** JSON of the body that the message was created with. */
  payload: string;
  /** Its alerts as they are known now; empty for a digest. */
  alerts: Alert[];
  /** The IDs of a digest's alerts, which may be too many to read in one step. */
  ids: number[];
}

/** Which deliveries a message shows, for the log and the metrics. */
export interface ShownDeliveries {
  /** Numbers in the inbox, and hashes of the transactions; at most {@link MAX_SHOWN} of each. */
  inboxIds: number[];
  txHashes: string[];
  /** When the oldest arrived that was not held for a digest or quiet hours; null: there is none. */
  receivedAt: number | null;
}

export const MAX_SHOWN = 50;

export function shownDeliveries(
  alerts: readonly Pick<Alert, 'inboxId' | 'receivedAt' | 'hold' | 'transfer'>[],
): ShownDeliveries {
  const times = alerts.filter(({ hold }) => hold === null).map(({ receivedAt }) => receivedAt);
  const first = alerts.slice(0, MAX_SHOWN);
  return {
    inboxIds: first.flatMap(({ inboxId }) => inboxId ?? []),
    txHashes: [...new Set(first.map(({ transfer }) => transfer.txHash))],
    receivedAt: times.reduce<number | null>((oldest, time) => (oldest === null || time < oldest ? time : oldest), null),
  };
}

/** A message to freeze before its first byte is sent. */
export interface NewBatch extends Pick<PostBatch, 'channelId' | 'nonce' | 'reference' | 'attachment'> {
  kind: 'create' | 'digest';
  /** JSON of the request's body. */
  payload: string;
  /** One alert as text without an embed. */
  plainText: boolean;
  reason: DigestReason | null;
  alerts: RenderedAlert[];
  mentioning: Mentioning[];
  isSignificant: boolean;
}

export interface ClaimOptions {
  /** Maximum number of alerts, not counting the others of their transactions. */
  limit: number;
  /** Leaves out the others of their transactions. */
  alone: boolean;
  mayChange: boolean;
}

/**
 * A channel's oldest frozen batch of each kind, by its id; null: there is none. A `change` is requested because a transfer
 * changed, a `label` because an address was renamed. Everything else is a `message`, such as alerts that join a sent one.
 */
export interface OldestFrozen {
  message: number | null;
  change: number | null;
  label: number | null;
}

/** Whether an edit that was requested and not begun also covers another request: a change renders the labels again, too. */
export const covers = (requested: EditKind, wanted: EditKind): boolean =>
  requested === wanted || (requested === 'change' && wanted === 'label');

/**
 * Returns which frozen batch a channel is sent before its due alerts, and which after them: a message comes before a
 * change, a label comes last. Changes and labels wait until sent messages may be changed; `waits`: one does.
 */
export const sendingOrder = ({ message, change, label }: OldestFrozen, mayChange: boolean) => ({
  beforeAlerts: message ?? (mayChange ? change : null),
  afterAlerts: mayChange ? label : null,
  waits: !mayChange && (change ?? label) !== null,
});

export type NextMessage =
  /**
   * A frozen message of this many `alerts`, or an edit that adds them; `original`: the message that an edit changes, if
   * there is one.
   */
  | { status: 'batch'; batch: Batch; alerts: number; shown: ShownDeliveries; original: Original | null }
  /** `joins`: sent messages that show transactions of the alerts. */
  | ({ status: 'alerts'; joins: Joinable[] } & DueAlerts)
  /**
   * Nothing until then; null: no alert waits. `change`: a sent message waits until it may be changed. `burst`: alerts
   * are collected for a digest until then.
   */
  | { status: 'nothing'; until: number | null; change: boolean; burst: boolean };

/** An alert, or an edit of a sent message, that Discord refused in every form, or that waited too long. */
export interface DeadLetter {
  id: number;
  /** `change`: the alert was posted, but a later edit of its message was not. */
  kind: 'alert' | 'change';
  /** The dead alert; for a change, the first alert of the message. */
  alertId: number;
  channelId: string;
  reason: string;
  /**
   * JSON of the refused request's body; for a change, of the request that created the message. Null for an alert of a
   * digest, and if nothing was rendered.
   */
  payload: string | null;
  at: number;
  transfer: Transfer;
}

/** A message about something other than transfers, to freeze. */
export interface Notice extends Pick<PostBatch, 'channelId' | 'nonce' | 'reference'> {
  guildId: string;
  /** JSON of the request's body. */
  payload: string;
  /** A CSV file. */
  attachment?: string | null;
  now: number;
  /** The channel that it reports as blocked: if that is ready before the notice was sent, it is dropped. Null: no channel. */
  aboutChannelId: string | null;
}

/** If more transactions wait in a channel, they become a digest. */
export const BACKLOG_TRANSACTIONS = 50;
/** If the oldest has waited for longer, they become a digest as soon as they fill more than a message. */
const BACKLOG_AGE_MS = 30 * MINUTE;

/** If a channel gets more alerts within the window, it gets digests. */
export const BURST_ALERTS = 60;
export const BURST_WINDOW_MS = 10 * MINUTE;
/** The time between the last alert of a burst and its first digest; each further digest doubles it. */
const BURST_PAUSE = { base: 10 * SECOND, max: 50 * SECOND };
/** After this long without an alert a burst is over, however many there were. */
const BURST_OVER_MS = MINUTE;
export const BURST_DIGESTS_MS = 30 * MINUTE;

/**
 * Returns until when a channel's next alerts are collected for a digest, which is due once that time has passed; null: they
 * are posted one by one. `alerts`: how many were in the window that ends with the last one, at `lastAt`; `digests`: how
 * many the burst has had.
 */
export function burstUntil(posted: { alerts: number; digests: number; lastAt: number }, now: number): number | null {
  const { alerts, digests, lastAt } = posted;
  // If `lastAt` is in the future because the clock was set back, nothing is held.
  const isOver = now < lastAt || now >= lastAt + BURST_OVER_MS;
  if (alerts <= BURST_ALERTS || isOver) return null;
  // Bounded, so that nobody can hide an important alert behind a burst for long.
  return lastAt + backOff(digests, BURST_PAUSE);
}

/**
 * Returns why a channel's due alerts were collected for a digest; null: they were not; `later`: those of a burst still are
 * being collected, until `collectingUntil`. `hold`: why the alerts were held.
 */
export function collectedFor(
  hold: Hold | null,
  collectingUntil: number | null,
  now: number,
): DueAlerts['reason'] | 'later' {
  if (hold !== null) return hold;
  if (collectingUntil === null) return null;
  return collectingUntil <= now ? 'burst' : 'later';
}

/** Why due alerts become a digest: they were collected for one, or there are too many. Null: they are posted one by one. */
export function digestReason(
  { waiting, transactions, oldest, reason }: Omit<DueAlerts, 'alerts'>,
  now: number,
): DigestReason | null {
  // A single one shows more on its own.
  if (waiting === 1) return null;
  if (reason) return reason;
  // A transaction is shown as one alert, however many transfers it has.
  const isOld = now - oldest > BACKLOG_AGE_MS && transactions > MAX_ALERTS;
  return transactions > BACKLOG_TRANSACTIONS || isOld ? 'backlog' : null;
}

/** When a channel's next alerts are due; null: none wait. `heldUntil`: when the first held one is. */
export const nextDueAt = (collectingUntil: number | null, heldUntil: number | null): number | null =>
  collectingUntil === null ? heldUntil : Math.min(collectingUntil, heldUntil ?? collectingUntil);
