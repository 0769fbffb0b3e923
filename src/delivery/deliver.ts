import type { AlertTarget } from '../domain/alert.ts';
import type { Batch, NextMessage } from '../domain/batch.ts';
import type { ChannelHead } from '../domain/channel.ts';
import type { SendingPause } from '../domain/hold.ts';
import type { SendOutcome } from '../domain/send-outcome.ts';
import { createOutcomes, type OutcomesOptions } from './apply-outcome.ts';
import { MAX_ALERTS } from './bisect.ts';
import type { Channel } from './channel-table.ts';
import { FIRST_RETRY_MS } from './decide.ts';
import { createDispatcher } from './dispatch.ts';
import { createMembership } from './membership.ts';
import { createRateLimit, type RequestSlot } from './rate-limit.ts';
import { createRescan } from './rescan.ts';
import { createScheduler } from './scheduler.ts';
import { createSend, isUpdate, type SendOptions } from './send.ts';

/** What the deliverer needs. */
export interface DelivererOptions extends SendOptions, Pick<OutcomesOptions, 'renderParked'> {
  random?: () => number;
  /** An attempt to post or edit a message ended; `receivedAt`: see {@link ShownDeliveries}, null while a channel was closed. */
  onAttempt?(attempt: { kind: Batch['kind']; alerts: number; outcome: SendOutcome; receivedAt: number | null }): void;
  /** The time since which the bot could send for this many milliseconds; by default it always could. */
  workedSince?(ms: number): number;
}

/** Posts alerts to Discord: one message in flight per channel, first in first out, channels in turn. */
export function startDeliverer(options: DelivererOptions) {
  const { store, clock, log, renderParked, onAttempt, random = Math.random } = options;
  const { workedSince = (ms: number) => clock.now() - ms } = options;
  const rateLimit = createRateLimit(clock);
  const scheduler = createScheduler();
  const dispatcher = createDispatcher({ scheduler, rateLimit, clock, log, serve });
  const { wake, isClosing } = dispatcher;
  const membership = createMembership({
    store,
    clock,
    log,
    isClosing,
    retry(guildIds, channelId) {
      for (const guildId of guildIds) scheduler.guildChanged(guildId, clock.now(), channelId);
      wake();
    },
  });
  const send = createSend(options);
  const outcomes = createOutcomes({
    store,
    clock,
    scheduler,
    rateLimit,
    membership,
    workedSince,
    random,
    renderParked,
  });
  const rescan = createRescan({ store, scheduler, clock, log, wake, isClosing });

  async function serve(channel: Channel, slot: RequestSlot): Promise<void> {
    const now = clock.now();
    const { limit } = channel.search;
    const take = { limit, alone: limit < MAX_ALERTS, mayChange: scheduler.mayEdit(channel, now) };
    const { head, next } = await store.outbox.claim(channel.id, take, now);
    if (next.status === 'nothing') return scheduler.slept(channel.id, { ...next, edit: next.change }, now);
    scheduler.claimed(channel.id, {
      alerts: next.status === 'alerts' ? next.waiting : 1,
      isEdit: next.status === 'batch' && isUpdate(next.batch),
    });
    if (!channel.loaded && head) {
      load(channel, head, now);
      if (channel.dueAt > clock.now() || scheduler.isHeld(channel.id)) return;
    }
    await attempt(channel, head, next, slot);
  }

  function load(channel: Channel, head: ChannelHead, now: number): void {
    // The stored state of the channel may be older than the bot's removal.
    const isRemoved = head.state === 'ready' && membership.isRemoved(head.guildId);
    if (isRemoved) membership.removed(head.guildId);
    scheduler.loaded(channel.id, isRemoved ? { ...head, state: 'unreachable', dueAt: now + FIRST_RETRY_MS } : head);
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
      case 'attempted':
    }
    slot.release();
    const { batch, outcome } = result;
    const { id, kind, alerts, attempts, shown } = batch;
    if (outcome.status === 'sent') membership.confirm(channel.guildId);
    scheduler.answered(channel.id, alerts);
    const wasClosed = head !== null && head.state !== 'ready';
    onAttempt?.({ kind, alerts, outcome, receivedAt: wasClosed ? null : shown.receivedAt });
    const line = { channel: channel.id, guild: channel.guildId, batch: id, kind, alerts, attempt: attempts, outcome };
    const { inboxIds: inbox, txHashes: tx, receivedAt } = shown;
    const wide = { ...line, inbox, tx, ...(receivedAt !== null && { ms: clock.now() - receivedAt }) };
    const after = await outcomes.apply(channel, head, batch, outcome);
    if (outcome.status === 'sent') log.info(wide, 'message sent');
    else log.warn({ ...wide, next: after }, 'message not accepted');
  }

  /** These channels have new alerts, named once for each, after this many events; they are stored already. */
  function alertsStored(targets: readonly AlertTarget[], events = 0): void {
    scheduler.arrived(targets, events, clock.now());
    wake();
  }

  return {
    /** Resolves once everything that an earlier process left is known. */
    loaded: rescan(),
    /** Finds what waits in channels that nobody named. */
    rescan,
    alertsStored,
    /** These channels have something to send. */
    wake: (channelIds: readonly string[]): void => alertsStored(channelIds.map((channelId) => ({ channelId }))),
    guildRemoved: membership.removed,
    channelRemoved: (channelId: string): void => void membership.channelRemoved(channelId),
    guildChanged: membership.changed,
    guildsSynced: membership.synced,
    guildUsed: membership.used,
    /** The gateway's token, which is the deliverer's too, was accepted or refused. */
    tokenChecked: rateLimit.tokenChecked,
    state: () => ({ ...rateLimit.state(), heldGuilds: scheduler.heldGuilds() }),
    /** The state of a guild whose channels wait together after too many refusals; null: they do not wait. */
    hold: (guildId: string) => scheduler.hold(guildId, clock.now()),
    /** Why due alerts of a guild are not sent now: first what concerns every channel. */
    pauses(guildId: string): SendingPause[] {
      const pause = rateLimit.pause();
      return [...(pause ? [{ channelId: null, ...pause }] : []), ...scheduler.pauses(guildId, clock.now())];
    },
    idle: dispatcher.idle,
    close: dispatcher.close,
  };
}
