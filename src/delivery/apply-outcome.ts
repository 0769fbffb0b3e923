import type { Alert } from '../domain/alert.ts';
import type { ChannelHead } from '../domain/channel.ts';
import type { Clock } from '../domain/clock.ts';
import type { SendOutcome } from '../domain/send-outcome.ts';
import type { Store } from '../store/store.ts';
import { narrowed } from './bisect.ts';
import type { ChannelStates } from './channel-states.ts';
import type { Channel } from './channel-table.ts';
import { type AttemptedBatch, type BatchStep, type Block, type ChannelStep, decide } from './decide.ts';
import type { Membership } from './membership.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Scheduler } from './scheduler.ts';

/** What applying outcomes needs. */
interface OutcomesOptions {
  store: Pick<Store, 'outbox'>;
  clock: Clock;
  scheduler: Scheduler;
  rateLimit: RateLimit;
  states: Pick<ChannelStates, 'setReady' | 'setBlocked'>;
  membership: Pick<Membership, 'isRemoved'>;
  random: () => number;
  /** The time since which the bot could send for this many milliseconds. */
  uptimeSince(ms: number): number;
}

/** Creates the only place that stores and schedules what follows from an attempt. */
export function createOutcomes(options: OutcomesOptions) {
  const { store, clock, scheduler, rateLimit, states, membership, uptimeSince, random } = options;

  async function applyToChannel(id: string, head: ChannelHead | null, step: ChannelStep, more: boolean): Promise<void> {
    switch (step.do) {
      case 'nothing':
      case 'postpone':
      case 'postpone-edits':
        return;
      case 'open':
        return scheduler.recordSent(id, more);
      case 'search':
        return scheduler.setSearch(id, step.search);
      case 'block':
        return block(id, head?.guildId ?? null, step);
    }
  }

  async function block(id: string, guildId: string | null, step: Block): Promise<void> {
    const now = clock.now();
    const { head, expired } = step;
    if (expired !== null) await store.outbox.expire(id, expired, `${head.reason} for too long`, now);
    const notified = await states.setBlocked(id, guildId, step);
    // After it is stored: if that fails, the channel is tried again soon, and its state and notice are stored then.
    scheduler.block(id, head.dueAt);
    if (notified !== null) scheduler.addAlerts([{ channelId: notified }], 0, now);
  }

  return {
    /**
     * Applies what follows from an attempt's outcome to all sending, to its message and to its channel; returns that for
     * the log.
     */
    async apply(
      channel: Channel,
      head: ChannelHead | null,
      batch: AttemptedBatch,
      outcome: SendOutcome,
    ): Promise<{ message: BatchStep['do']; channel: ChannelStep['do']; dueAt?: number }> {
      const now = clock.now();
      const isRemoved = membership.isRemoved(channel.guildId);
      const decision = decide(outcome, batch, { search: channel.search, head, isRemoved, now, uptimeSince, random });
      if (decision.sending) rateLimit.recordResponse(decision.sending.kind, decision.sending.retryAfterMs);
      if (decision.sending?.kind === 'refused') scheduler.recordRefusal(channel.id, now);
      const { batch: message, channel: step } = decision;
      // At once: a wait lasts as long as Discord asked even if the store fails, or the clock is set back while it works.
      if (step.do === 'postpone') scheduler.postpone(channel.id, step.until, step.reason);
      if (step.do === 'postpone-edits') scheduler.postponeEdits(channel.id, step.until);
      // Before the message is recorded: if that fails or the process is killed, the message is only repeated with its
      // nonce. In the other order, a blocked channel would have nothing to send, and its next alert would wait for hours.
      if (step.do === 'open' && step.wasBlocked) await states.setReady(channel.id);
      const more = await applyToBatch(store, batch.id, message, now);
      await applyToChannel(channel.id, head, step, more);
      const dueAt = 'until' in step ? step.until : step.do === 'block' ? step.head.dueAt : undefined;
      return { message: message.do, channel: step.do, ...(dueAt !== undefined && { dueAt }) };
    },
    /** Ends an edit for which no request was made: that shows nothing about its channel. */
    notEdited: (batchId: number, reason: string | null): Promise<void> =>
      store.outbox.markEditFailed(batchId, reason, clock.now()),
    /** Searches for an alert that cannot be rendered, as for one that Discord refuses. It must not delay the others. */
    async unrenderable({ id, search }: Channel, alerts: Alert[], { message }: Error): Promise<void> {
      const next = narrowed(search, alerts.length);
      const reason = `It cannot be rendered: ${message}`;
      if (!next) await store.outbox.deadLetterUnrendered(alerts[0]!.id, reason, clock.now());
      scheduler.setSearch(id, next);
    },
  };
}

/** Stores a step; returns whether the channel may have more to send. */
async function applyToBatch(
  { outbox }: Pick<Store, 'outbox'>,
  id: number,
  step: BatchStep,
  now: number,
): Promise<boolean> {
  switch (step.do) {
    case 'nothing':
      break;
    case 'mark-sent':
      return outbox.markSent(id, step.messageId, now);
    case 'mark-edited':
      await outbox.markEdited(id, now);
      break;
    case 'mark-edit-failed':
      await outbox.markEditFailed(id, null, now);
      break;
    case 'mark-not-sent':
      await outbox.markNotSent(id);
      break;
    case 'unfreeze':
      await outbox.unfreeze(id);
      break;
    case 'dead-letter':
      await outbox.deadLetter(id, step.reason, now);
      break;
  }
  return true;
}
