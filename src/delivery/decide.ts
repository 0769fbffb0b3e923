import { type BackOff, backOff } from '../domain/back-off.ts';
import type { Batch, ShownDeliveries } from '../domain/batch.ts';
import { type ChannelHead, type ChannelState, GONE } from '../domain/channel.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../domain/clock.ts';
import type { SendOutcome } from '../domain/send-outcome.ts';
import { narrowed, type Search } from './bisect.ts';
import type { ResponseKind } from './breaker.ts';

/** What becomes of a message after an attempt, decided from its outcome. */

type OutcomeOf<Status extends SendOutcome['status']> = Extract<SendOutcome, { status: Status }>;
type BlockedState = Exclude<ChannelState, 'ready'>;

const GIVE_UP_MS = 72 * HOUR;
/** The first pause of a channel that the bot cannot post in. */
export const FIRST_RETRY_MS = 15 * MINUTE;
/** The pauses of a channel after attempts whose outcome is unknown. */
export const UNSURE_BACK_OFF: BackOff = { base: SECOND, max: MINUTE, jitter: 1 };
const BLOCKED_RETRIES = [FIRST_RETRY_MS, HOUR, 6 * HOUR];
/** How long alerts are kept for a channel that the bot cannot post in. */
const RETENTION_MS: Record<BlockedState, number> = { parked: 7 * DAY, unreachable: 30 * DAY };

/** A message that an attempt was made for. */
export interface AttemptedBatch extends Pick<Batch, 'id' | 'kind' | 'attempts' | 'frozenAt'> {
  /** Alerts in it, and the deliveries that they show. */
  alerts: number;
  shown: ShownDeliveries;
  /** It appends no alerts; it only updates a sent message. */
  isUpdate: boolean;
  /** No other attempt can have reached Discord. */
  certain: boolean;
  /** An earlier attempt may have reached Discord, but the channel's history cannot be read. */
  blind?: boolean;
}

/** The situation in which an outcome is judged. */
export interface Situation {
  search: Search;
  /** The channel as it is stored. */
  head: ChannelHead | null;
  /** The bot was removed from the channel's guild. */
  isRemoved: boolean;
  now: number;
  /** The time since which the bot could send for this many milliseconds: deadlines count only such time. */
  uptimeSince(ms: number): number;
  random: () => number;
}

/** What an outcome means for all sending; null: nothing. */
export type SendingStep = { kind: ResponseKind; retryAfterMs: number } | null;

/** What is stored about the message. */
export type BatchStep =
  | { do: 'nothing' }
  | { do: 'mark-sent'; messageId: string | null }
  | { do: 'mark-edited' }
  /** Alerts that were to be appended need their own message. */
  | { do: 'mark-edit-failed' }
  | { do: 'mark-not-sent' }
  | { do: 'unfreeze' }
  | { do: 'dead-letter'; reason: string };

/** What happens to the channel. */
export type ChannelStep =
  | { do: 'nothing' }
  | { do: 'open'; wasBlocked: boolean }
  | { do: 'postpone' | 'postpone-edits'; until: number; reason: 'rate' | 'retry' }
  | { do: 'search'; search: Search | null }
  | ({ do: 'block' } & Block);

/** How a channel is parked or marked unreachable. */
export interface Block {
  head: { state: BlockedState; dueAt: number; attempts: number; since: number; reason: string };
  /** Discord's error code. */
  code: number;
  /** It was not in this state before. */
  isNew: boolean;
  /** Alerts from before this time become dead letters; null: none is that old. */
  expired: number | null;
}

/** Everything that follows from an outcome. */
export interface OutcomeDecision {
  sending: SendingStep;
  batch: BatchStep;
  channel: ChannelStep;
}

const NOTHING = { do: 'nothing' } as const;

/** Decides what follows from an attempt's outcome: for all sending, for the message, and for its channel. */
export function decide(outcome: SendOutcome, batch: AttemptedBatch, situation: Situation): OutcomeDecision {
  const response = (kind: ResponseKind, retryAfterMs = 0): SendingStep => ({ kind, retryAfterMs });
  switch (outcome.status) {
    case 'sent':
      return { sending: response('fine'), ...afterSent(outcome, batch, situation) };
    case 'rate-limited': {
      const asked = response(outcome.global ? 'global-limit' : 'refused', outcome.retryAfterMs);
      return { sending: outcome.local ? null : asked, ...afterRateLimit(outcome, batch, situation) };
    }
    case 'unsure':
      return { sending: response('unsure'), ...afterDoubt(outcome, batch, situation) };
    case 'breaker':
      return { sending: response('fault', outcome.retryAfterMs), batch: notSent(batch), channel: NOTHING };
    case 'unauthorized':
      return { sending: response('unauthorized'), batch: notSent(batch), channel: NOTHING };
    case 'forbidden': {
      // A process that started after the bot's removal knows of it only from the channel's stored state.
      const isGone = situation.head?.state === 'unreachable' || situation.isRemoved;
      const channel = blocked(isGone ? 'unreachable' : 'parked', outcome.code, situation);
      return { sending: response('refused'), batch: notSent(batch), channel };
    }
    case 'gone':
      return {
        sending: response('fine'),
        batch: notSent(batch),
        channel: blocked('unreachable', outcome.code, situation),
      };
    case 'refused':
      return { sending: response('fine'), ...afterRefusal(outcome, batch, situation) };
  }
}

type Steps = Omit<OutcomeDecision, 'sending'>;

/** The attempt changed nothing, and neither did an earlier one if this is certain. */
const notSent = ({ certain }: AttemptedBatch): BatchStep => (certain ? { do: 'mark-not-sent' } : NOTHING);

function afterSent({ messageId }: OutcomeOf<'sent'>, { kind }: AttemptedBatch, { head }: Situation): Steps {
  const channel = { do: 'open', wasBlocked: head !== null && head.state !== 'ready' } as const;
  if (kind !== 'edit') return { batch: { do: 'mark-sent', messageId }, channel };
  return { batch: messageId === null ? { do: 'mark-edit-failed' } : { do: 'mark-edited' }, channel };
}

function afterRateLimit(
  { retryAfterMs, global }: OutcomeOf<'rate-limited'>,
  batch: AttemptedBatch,
  { now }: Situation,
): Steps {
  // Edits of a published message may have to wait for 20 minutes; its new alerts get their own message instead.
  if (batch.kind === 'edit' && !batch.isUpdate && batch.certain && retryAfterMs > MINUTE && !global)
    return { batch: { do: 'mark-edit-failed' }, channel: NOTHING };
  return { batch: notSent(batch), channel: postponed(batch, now + retryAfterMs, 'rate') };
}

function afterDoubt(
  { reason, retryAfterMs = 0 }: OutcomeOf<'unsure'>,
  batch: AttemptedBatch,
  { now, uptimeSince, random }: Situation,
): Steps {
  const age = now - batch.frozenAt;
  // Each blind repeat may post a copy, so there are only a few in the three days.
  const pause = batch.blind
    ? Math.min(Math.max(age, 15 * MINUTE), 6 * HOUR)
    : Math.ceil(backOff(batch.attempts - 1, UNSURE_BACK_OFF, random()));
  return {
    batch: batch.frozenAt < uptimeSince(GIVE_UP_MS) ? { do: 'dead-letter', reason: `72 hours: ${reason}` } : NOTHING,
    channel: postponed(batch, now + Math.max(pause, retryAfterMs), 'retry'),
  };
}

/** An update must not hold up new alerts: Discord limits edits separately. */
const postponed = ({ isUpdate }: AttemptedBatch, until: number, reason: 'rate' | 'retry'): ChannelStep => ({
  do: isUpdate ? 'postpone-edits' : 'postpone',
  until,
  reason,
});

function afterRefusal(
  { reason }: OutcomeOf<'refused'>,
  { kind, alerts }: AttemptedBatch,
  { search }: Situation,
): Steps {
  const given: BatchStep = { do: 'dead-letter', reason };
  switch (kind) {
    case 'edit':
    case 'notice':
      return { batch: given, channel: NOTHING };
    case 'create':
    case 'digest': {
      const next = narrowed(search, alerts);
      return { batch: next ? { do: 'unfreeze' } : given, channel: { do: 'search', search: next } };
    }
  }
}

/** A channel that the bot cannot post in keeps its alerts for days and is tried again now and then. */
function blocked(state: BlockedState, code: number, { head, now, uptimeSince }: Situation): ChannelStep {
  const known = head?.state === state ? head : null;
  const attempts = known?.attempts ?? 0;
  const since = known?.since ?? now;
  const oldest = uptimeSince(RETENTION_MS[state]);
  const reason = state === 'parked' ? `missing permissions (${code})` : `${GONE} (${code})`;
  const dueAt = now + BLOCKED_RETRIES[Math.min(attempts, BLOCKED_RETRIES.length - 1)]!;
  return {
    do: 'block',
    head: { state, dueAt, attempts: attempts + 1, since, reason },
    code,
    isNew: known === null,
    expired: since < oldest ? oldest : null,
  };
}
