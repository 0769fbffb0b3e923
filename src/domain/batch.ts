import { randomBytes } from 'node:crypto';
import type { Alert, DigestReason, Hold, Mentioning, RenderedAlert } from './alert.ts';
import { backOff, MINUTE, SECOND } from './clock.ts';
import type { Transfer } from './transfer.ts';

/** Per message, unless they belong to one transaction. */
export const MAX_ALERTS = 10;
export const MAX_OF_ONE_TRANSACTION = 5_000;

export interface MessageRef {
  channelId: string;
  reference: string;
}

/** Alerts of a transaction join its message for this long; later nobody would see them there. */
export const JOIN_MS = 10 * MINUTE;

export interface Joinable {
  id: number;
  transaction: string;
  reference: string;
  messageId: string;
  payload: string;
  alerts: Alert[];
}

/** Alerts of one lane are posted together. */
export interface Lane {
  hold: Hold | null;
  isSignificant: boolean;
}

export interface DueAlerts {
  lane: Lane;
  /** The oldest; those of one transaction follow each other. */
  alerts: Alert[];
  waiting: number;
  oldest: number;
  /** Counted up to one more than make a backlog. */
  transactions: number;
  /** null: they were not collected for a digest. */
  reason: Hold | 'burst' | null;
}

interface FrozenBatch {
  id: number;
  channelId: string;
  reference: string;
  /** CSV. */
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

/** Changes the message with the same reference. */
export interface EditBatch extends FrozenBatch {
  kind: 'edit';
  /** An edit creates nothing that Discord could recognize. */
  nonce: null;
  /** null: it is rendered when it is sent. */
  payload: string | null;
}

/** `change`: the transfer changed; `label`: an address was renamed; `join`: alerts join the message. */
export type EditKind = 'change' | 'label' | 'join';

export type Batch = PostBatch | EditBatch;

export interface Original {
  messageId: string | null;
  /** null: it shows single alerts. */
  reason: DigestReason | null;
  plainText: boolean;
  /** JSON of the body that the message was created with. */
  payload: string;
  /** As they are known now; empty for a digest. */
  alerts: Alert[];
  /** The IDs of a digest's alerts, which may be too many to read in one step. */
  ids: number[];
}

export interface ShownDeliveries {
  inboxIds: number[];
  txHashes: string[];
  /** When the oldest that is not held arrived; null: all are held. */
  receivedAt: number | null;
}

export const MAX_SHOWN = 50;

export function shownDeliveries(
  alerts: readonly Pick<Alert, 'inboxId' | 'receivedAt' | 'hold' | 'transfer'>[],
): ShownDeliveries {
  const inboxIds: number[] = [];
  const txHashes = new Set<string>();
  let oldest: number | null = null;
  for (const [index, { inboxId, receivedAt, hold, transfer }] of alerts.entries()) {
    if (hold === null && (oldest === null || receivedAt < oldest)) oldest = receivedAt;
    if (index >= MAX_SHOWN) continue;
    if (inboxId !== null) inboxIds.push(inboxId);
    txHashes.add(transfer.txHash);
  }
  return { inboxIds, txHashes: [...txHashes], receivedAt: oldest };
}

export interface NewBatch extends Pick<PostBatch, 'channelId' | 'nonce' | 'reference' | 'attachment'> {
  kind: 'create' | 'digest';
  payload: string;
  /** One alert as text without an embed. */
  plainText: boolean;
  reason: DigestReason | null;
  alerts: RenderedAlert[];
  mentioning: Mentioning[];
  isSignificant: boolean;
}

export interface ClaimOptions {
  /** Not counting the other alerts of their transactions. */
  limit: number;
  /** Leaves out the other alerts of their transactions. */
  withoutCompanions: boolean;
  mayEdit: boolean;
}

/** A change renders the labels again, too. */
export const covers = (requested: EditKind, wanted: EditKind): boolean =>
  requested === wanted || (requested === 'change' && wanted === 'label');

export type NextMessage =
  /** `alerts`: how many a message shows or an edit adds; `original`: what an edit changes. */
  | { status: 'batch'; batch: Batch; alerts: number; shown: ShownDeliveries; original: Original | null }
  | ({ status: 'alerts'; joins: Joinable[] } & DueAlerts)
  /** `edit`: a sent message waits until it may be edited; `isCollecting`: alerts of a burst wait for their digest. */
  | { status: 'nothing'; until: number | null; edit: boolean; isCollecting: boolean };

/** An alert, or an edit of a sent message, that Discord refused in every form, or that waited too long. */
export interface DeadLetter {
  id: number;
  /** `change`: the alert was posted, but a later edit of its message was not. */
  kind: 'alert' | 'change';
  /** For a change, the first alert of the message. */
  alertId: number;
  channelId: string;
  reason: string;
  /** JSON of the refused body; for a change, of the created message. Null in a digest, and if nothing was rendered. */
  payload: string | null;
  at: number;
  transfer: Transfer;
}

/** A message about something other than transfers, to freeze. */
export interface Notice extends Pick<PostBatch, 'channelId' | 'nonce' | 'reference'> {
  guildId: string;
  payload: string;
  attachment?: string | null;
  now: number;
  /** The blocked channel that it reports: once that is ready, the notice is dropped. Null: no channel. */
  aboutChannelId: string | null;
}

export type MadeNotice = Pick<Notice, 'nonce' | 'reference' | 'payload' | 'attachment' | 'now'>;

/** `reference`: ten capitals and digits. `nonce`, of at most 25 characters: Discord recognizes a repeated message by it. */
export function newNames(now: number): { reference: string; nonce: string } {
  const random = randomBytes(8).readBigUInt64BE().toString(36);
  const reference = random.padStart(10, '0').slice(-10).toUpperCase();
  return { reference, nonce: `${now.toString(36)}${reference}`.slice(0, 25) };
}

/** A message about something other than transfers. */
export function composeNotice(now: number, bodyOf: (reference: string) => object): MadeNotice {
  const names = newNames(now);
  return { ...names, payload: JSON.stringify(bodyOf(names.reference)), now };
}

/** If more transactions wait in a channel, they become a digest. */
export const BACKLOG_TRANSACTIONS = 50;
/** If the oldest has waited for longer, they become a digest as soon as they fill more than a message. */
const BACKLOG_AGE_MS = 30 * MINUTE;

export const BURST_ALERTS = 60;
export const BURST_WINDOW_MS = 10 * MINUTE;
/** The time between the last alert of a burst and its first digest; each further digest doubles it. */
const BURST_PAUSE = { base: 10 * SECOND, max: 50 * SECOND };
/** After this long without an alert a burst is over, however many there were. */
const BURST_OVER_MS = MINUTE;
export const BURST_DIGESTS_MS = 30 * MINUTE;

/** null: post one by one. `alerts`: how many were in the window that ends at `lastAt`; `digests`: of this burst. */
export function burstUntil(posted: { alerts: number; digests: number; lastAt: number }, now: number): number | null {
  const { alerts, digests, lastAt } = posted;
  // If `lastAt` is in the future because the clock was set back, nothing is held.
  const isOver = now < lastAt || now >= lastAt + BURST_OVER_MS;
  if (alerts <= BURST_ALERTS || isOver) return null;
  // Bounded, so that nobody can hide an important alert behind a burst for long.
  return lastAt + backOff(digests, BURST_PAUSE);
}

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
