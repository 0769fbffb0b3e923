import { type Batch, MAX_ALERTS, type ShownDeliveries } from '../domain/batch.ts';
import { type BackOff, backOff, DAY, HOUR, MINUTE, SECOND } from '../domain/clock.ts';
import { type ChannelHead, type ChannelState, GONE } from '../domain/guild.ts';
import type { SendOutcome } from '../domain/sender.ts';

/** Decides from Discord's response what is stored about a message and what its channel does next. */

type OutcomeOf<Status extends SendOutcome['status']> = Extract<SendOutcome, { status: Status }>;
type BlockedState = Exclude<ChannelState, 'ready'>;

const GIVE_UP_MS = 72 * HOUR;
export const FIRST_RETRY_MS = 15 * MINUTE;
const BLOCKED_RETRIES = [FIRST_RETRY_MS, HOUR, 6 * HOUR];
export const UNCONFIRMED_BACK_OFF: BackOff = { base: SECOND, max: MINUTE, jitter: 1 };
/** How long a channel's alerts are kept. */
const RETENTION_MS: Record<BlockedState, number> = { parked: 7 * DAY, unreachable: 30 * DAY };

/** Set while an alert is searched for that Discord refuses or that cannot be rendered. */
export interface Search {
  readonly limit: number;
  readonly plain: boolean;
}

export const NO_SEARCH: Search = { limit: MAX_ALERTS, plain: false };

/** The next attempt after these alerts failed together: half of them, then one as plain text; null: none is left. */
export function narrowed({ plain }: Search, alerts: number): Search | null {
  if (alerts > 1) return { limit: Math.min(Math.ceil(alerts / 2), MAX_ALERTS / 2), plain };
  return plain ? null : { limit: 1, plain: true };
}

export interface Attempt extends Pick<Batch, 'id' | 'kind' | 'attempts' | 'frozenAt'> {
  alerts: number;
  shown: ShownDeliveries;
  /** A sent message is updated; nothing is appended. */
  isUpdate: boolean;
  /** An earlier attempt may have reached Discord. */
  unconfirmed: boolean;
  /** The channel's history, which would show whether an earlier attempt did, cannot be read. */
  isHistoryHidden?: boolean;
}

export interface Situation {
  search: Search;
  head: ChannelHead;
  now: number;
  /** The time since which the bot could send for this many milliseconds: deadlines count only such time. */
  uptimeSince(ms: number): number;
  random: () => number;
}

export type BatchStep =
  | { do: 'nothing' }
  | { do: 'mark-sent'; messageId: string | null }
  | { do: 'mark-edited' }
  | { do: 'mark-edit-failed' }
  | { do: 'mark-not-sent' }
  | { do: 'unfreeze' }
  | { do: 'dead-letter'; reason: string };

export type ChannelStep =
  | { do: 'nothing' }
  | { do: 'open'; wasBlocked: boolean }
  | { do: 'postpone'; waitMs: number; reason: 'rate' | 'retry' }
  | { do: 'postpone-edits'; waitMs: number }
  | { do: 'search'; search: Search | null }
  | ({ do: 'block'; waitMs: number } & Block);

export interface Block {
  head: { state: BlockedState; dueAt: number; attempts: number; since: number; reason: string };
  code: number;
  isNew: boolean;
  /** Older alerts become dead letters; null: none is that old. */
  expired: number | null;
}

interface Steps {
  batch: BatchStep;
  channel: ChannelStep;
}

const NOTHING = { do: 'nothing' } as const;

export function decide(outcome: SendOutcome, attempt: Attempt, situation: Situation): Steps {
  switch (outcome.status) {
    case 'sent': {
      const { messageId } = outcome;
      const channel = { do: 'open', wasBlocked: situation.head.state !== 'ready' } as const;
      if (attempt.kind !== 'edit') return { batch: { do: 'mark-sent', messageId }, channel };
      return { batch: messageId === null ? { do: 'mark-edit-failed' } : { do: 'mark-edited' }, channel };
    }
    case 'rate-limited':
      return afterRateLimit(outcome, attempt);
    case 'unconfirmed':
      return afterUnconfirmed(outcome, attempt, situation);
    case 'breaker':
    case 'unauthorized':
      return { batch: notSent(attempt), channel: NOTHING };
    case 'forbidden': {
      const { state, removed } = situation.head;
      const next = state === 'unreachable' || removed ? 'unreachable' : 'parked';
      return { batch: notSent(attempt), channel: blocked(next, outcome.code, situation) };
    }
    case 'gone':
      return { batch: notSent(attempt), channel: blocked('unreachable', outcome.code, situation) };
    case 'refused':
      return afterRefusal(outcome, attempt, situation);
  }
}

const notSent = ({ unconfirmed }: Attempt): BatchStep => (unconfirmed ? NOTHING : { do: 'mark-not-sent' });

function afterRateLimit({ retryAfterMs, global }: OutcomeOf<'rate-limited'>, attempt: Attempt): Steps {
  const { kind, isUpdate, unconfirmed } = attempt;
  // Edits of a published message may have to wait for 20 minutes; its new alerts get their own message instead.
  if (kind === 'edit' && !isUpdate && !unconfirmed && retryAfterMs > MINUTE && !global)
    return { batch: { do: 'mark-edit-failed' }, channel: NOTHING };
  return { batch: notSent(attempt), channel: postponed(attempt, retryAfterMs, 'rate') };
}

function afterUnconfirmed(
  { reason, retryAfterMs = 0 }: OutcomeOf<'unconfirmed'>,
  attempt: Attempt,
  { now, uptimeSince, random }: Situation,
): Steps {
  const { frozenAt, attempts, isHistoryHidden } = attempt;
  // Without the history each repeat may post a copy, so there are only a few in the three days.
  const waitMs = isHistoryHidden
    ? Math.min(Math.max(now - frozenAt, 15 * MINUTE), 6 * HOUR)
    : Math.ceil(backOff(attempts - 1, UNCONFIRMED_BACK_OFF, random()));
  return {
    batch: frozenAt < uptimeSince(GIVE_UP_MS) ? { do: 'dead-letter', reason: `72 hours: ${reason}` } : NOTHING,
    channel: postponed(attempt, Math.max(waitMs, retryAfterMs), 'retry'),
  };
}

/** An update must not hold up new alerts: Discord limits edits separately. */
const postponed = ({ isUpdate }: Attempt, waitMs: number, reason: 'rate' | 'retry'): ChannelStep =>
  isUpdate ? { do: 'postpone-edits', waitMs } : { do: 'postpone', waitMs, reason };

function afterRefusal({ reason }: OutcomeOf<'refused'>, { kind, alerts }: Attempt, { search }: Situation): Steps {
  const deadLetter: BatchStep = { do: 'dead-letter', reason };
  switch (kind) {
    case 'edit':
    case 'notice':
      return { batch: deadLetter, channel: NOTHING };
    case 'create':
    case 'digest': {
      const next = narrowed(search, alerts);
      return { batch: next ? { do: 'unfreeze' } : deadLetter, channel: { do: 'search', search: next } };
    }
  }
}

function blocked(state: BlockedState, code: number, { head, now, uptimeSince }: Situation): ChannelStep {
  const known = head.state === state ? head : null;
  const attempts = known?.attempts ?? 0;
  const since = known?.since ?? now;
  const oldest = uptimeSince(RETENTION_MS[state]);
  const reason = state === 'parked' ? `missing permissions (${code})` : `${GONE} (${code})`;
  const waitMs = BLOCKED_RETRIES[Math.min(attempts, BLOCKED_RETRIES.length - 1)]!;
  return {
    do: 'block',
    waitMs,
    head: { state, dueAt: now + waitMs, attempts: attempts + 1, since, reason },
    code,
    isNew: known === null,
    expired: since < oldest ? oldest : null,
  };
}
