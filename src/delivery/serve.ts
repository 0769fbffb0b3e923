import { type Batch, MAX_ALERTS, type NextMessage } from '../domain/batch.ts';
import type { ChannelHead } from '../domain/channel.ts';
import type { SendOutcome } from '../domain/send-outcome.ts';
import type { createOutcomes } from './apply-outcome.ts';
import type { Channel } from './channel-table.ts';
import { FIRST_RETRY_MS } from './decide.ts';
import type { Membership } from './membership.ts';
import type { RequestSlot } from './rate-limit.ts';
import type { Scheduler } from './scheduler.ts';
import { type createSend, isUpdate, type SendOptions } from './send.ts';

/** Options of {@link createServe}. */
export interface ServeOptions extends SendOptions {
  /** An attempt to post or edit a message ended; `receivedAt`: see {@link ShownDeliveries}, null while a channel was blocked. */
  onAttempt?(attempt: { kind: Batch['kind']; alerts: number; outcome: SendOutcome; receivedAt: number | null }): void;
}

/** The other parts of the deliverer, which {@link createServe} calls. */
interface ServeParts {
  scheduler: Scheduler;
  membership: Membership;
  outcomes: ReturnType<typeof createOutcomes>;
  send: ReturnType<typeof createSend>;
}

/** Returns the function that uses a channel's slot: it claims what the channel sends next, sends it, applies the outcome. */
export function createServe(options: ServeOptions, { scheduler, membership, outcomes, send }: ServeParts) {
  const { store, clock, log, onAttempt } = options;

  async function serve(channel: Channel, slot: RequestSlot): Promise<void> {
    const now = clock.now();
    const { limit } = channel.search;
    const take = { limit, alone: limit < MAX_ALERTS, mayChange: scheduler.mayEdit(channel, now) };
    const { head, next } = await store.outbox.claim(channel.id, take, now);
    if (next.status === 'nothing') return scheduler.sleep(channel.id, { ...next, edit: next.change }, clock.now());
    scheduler.recordClaim(channel.id, {
      alerts: next.status === 'alerts' ? next.waiting : 1,
      isEdit: next.status === 'batch' && isUpdate(next.batch),
    });
    if (!channel.loaded && head && !load(channel, head)) return;
    await attempt(channel, head, next, slot);
  }

  /** Returns whether the channel may use its slot. */
  function load({ id }: Channel, head: ChannelHead): boolean {
    const now = clock.now();
    // The stored state of the channel may be older than the bot's removal.
    const isRemoved = head.state === 'ready' && membership.isRemoved(head.guildId);
    if (isRemoved) membership.recordRemoval(head.guildId);
    const known = isRemoved ? { ...head, state: 'unreachable' as const, dueAt: now + FIRST_RETRY_MS } : head;
    return scheduler.setLoaded(id, known, now);
  }

  async function attempt(
    channel: Channel,
    head: ChannelHead | null,
    next: Exclude<NextMessage, { status: 'nothing' }>,
    slot: RequestSlot,
  ): Promise<void> {
    const result = await send(channel, next, slot);
    switch (result.status) {
      case 'changed':
        return;
      case 'unrenderable':
        return outcomes.unrenderable(channel, result.alerts, result.error);
      case 'not-edited':
        return notEdited(channel, result.batchId, result.reason);
      case 'attempted':
    }
    slot.release();
    const { batch, outcome } = result;
    const { id, kind, alerts, attempts, shown } = batch;
    if (outcome.status === 'sent') membership.confirm(channel.guildId);
    scheduler.recordResponse(channel.id, alerts);
    const wasBlocked = head !== null && head.state !== 'ready';
    onAttempt?.({ kind, alerts, outcome, receivedAt: wasBlocked ? null : shown.receivedAt });
    const line = { channel: channel.id, guild: channel.guildId, batch: id, kind, alerts, attempt: attempts, outcome };
    const { inboxIds: inbox, txHashes: tx, receivedAt } = shown;
    const wide = { ...line, inbox, tx, ...(receivedAt !== null && { ms: clock.now() - receivedAt }) };
    const after = await outcomes.apply(channel, head, batch, outcome);
    if (outcome.status === 'sent') log.info(wide, 'message sent');
    else log.warn({ ...wide, next: after }, 'message not accepted');
  }

  function notEdited({ id, guildId }: Channel, batchId: number, reason: string | null): Promise<void> {
    if (reason !== null) log.warn({ channel: id, guild: guildId, batch: batchId, reason }, 'message not edited');
    return outcomes.notEdited(batchId, reason);
  }

  return serve;
}
