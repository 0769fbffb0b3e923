import type { Alert } from '../domain/alert.ts';
import type { ChannelHead } from '../domain/channel.ts';
import type { Clock } from '../domain/clock.ts';
import type { SendOutcome } from '../domain/sender.ts';
import type { Store } from '../store/store.ts';
import type { Limits } from './limits.ts';
import type { Membership } from './membership.ts';
import { type Attempt, type BatchStep, type ChannelStep, decide, narrowed } from './outcome.ts';
import type { Channel, Schedule } from './schedule.ts';

interface OutcomesOptions {
  store: Pick<Store, 'outbox'>;
  clock: Clock;
  schedule: Schedule;
  limits: Limits;
  membership: Membership;
  random: () => number;
  /** The time since which the bot could send for this many milliseconds. */
  uptimeSince(ms: number): number;
}

/** Creates the only place that stores and schedules what follows from an attempt. */
export function createOutcomes(options: OutcomesOptions) {
  const { store, clock, schedule, limits, membership, uptimeSince, random } = options;
  const { outbox } = store;

  /** Stores a step; returns whether the channel may have more to send. */
  async function applyToBatch(id: number, step: BatchStep, now: number): Promise<boolean> {
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

  async function applyToChannel({ id, guildId }: Channel, step: ChannelStep, more: boolean): Promise<void> {
    switch (step.do) {
      case 'nothing':
      case 'postpone':
      case 'postpone-edits':
        return;
      case 'open':
        return open(id, guildId, more);
      case 'search':
        return schedule.setSearch(id, step.search);
      case 'block':
        return block(id, guildId, step);
    }
  }

  function open(id: string, guildId: string | null, more: boolean): void {
    const { probe } = schedule.get(id);
    schedule.recordSent(id, more);
    if (guildId === null) return;
    const wasPaused = limits.guilds.release(guildId);
    if (probe || wasPaused) schedule.retryBlocked(guildId);
  }

  async function block(id: string, guildId: string | null, step: Extract<ChannelStep, { do: 'block' }>): Promise<void> {
    const { head, expired, waitMs } = step;
    if (expired !== null) await outbox.expire(id, expired, `${head.reason} for too long`, clock.now());
    const notified = await membership.setBlocked(id, guildId, step);
    // After it is stored: if that fails, the channel is tried again soon, and its state and notice are stored then.
    schedule.block(id, clock.elapsed() + waitMs, head.dueAt);
    if (notified !== null) schedule.add({ channelId: notified, ...(guildId !== null && { guildId }) }, clock.elapsed());
  }

  return {
    /**
     * Applies what follows from an attempt's outcome to all sending, to its message and to its channel; returns that for
     * the log.
     */
    async apply(
      channel: Channel,
      head: ChannelHead | null,
      attempt: Attempt,
      outcome: SendOutcome,
    ): Promise<{ message: BatchStep['do']; channel: ChannelStep['do']; waitMs?: number }> {
      const { id, search, guildId } = channel;
      const now = clock.now();
      const isRemoved = membership.isRemoved(guildId);
      const { batch, channel: step } = decide(outcome, attempt, { search, head, isRemoved, now, uptimeSince, random });
      // At once: a wait lasts as long as Discord asked even if the store fails.
      const elapsed = clock.elapsed();
      limits.record(outcome, guildId, elapsed);
      if (step.do === 'postpone') schedule.postpone(id, elapsed + step.waitMs, step.reason);
      if (step.do === 'postpone-edits') schedule.postponeEdits(id, elapsed + step.waitMs);
      // Before the message is recorded: if that fails or the process is killed, the message is only repeated with its
      // nonce. In the other order, a blocked channel would have nothing to send, and its next alert would wait for hours.
      if (step.do === 'open' && step.wasBlocked) await membership.setReady(id);
      const more = await applyToBatch(attempt.id, batch, now);
      await applyToChannel(channel, step, more);
      return { message: batch.do, channel: step.do, ...('waitMs' in step && { waitMs: step.waitMs }) };
    },
    /** Ends an edit for which no request was made: that shows nothing about its channel. */
    notEdited: (batchId: number, reason: string | null): Promise<void> =>
      outbox.markEditFailed(batchId, reason, clock.now()),
    /** Searches for an alert that cannot be rendered, as for one that Discord refuses. It must not delay the others. */
    async unrenderable({ id, search }: Channel, alerts: Alert[], { message }: Error): Promise<void> {
      const next = narrowed(search, alerts.length);
      const reason = `It cannot be rendered: ${message}`;
      if (!next) await outbox.deadLetterUnrendered(alerts[0]!.id, reason, clock.now());
      schedule.setSearch(id, next);
    },
  };
}
