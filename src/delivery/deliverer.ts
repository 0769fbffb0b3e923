import type { AddressText } from '../domain/address.ts';
import type { AlertTarget } from '../domain/alert.ts';
import { MAX_ALERTS } from '../domain/batch.ts';
import { DAY, HOUR, inTime, SECOND } from '../domain/clock.ts';
import type { ChannelHead, Shard } from '../domain/guild.ts';
import type { GuildPause, Outbox, SendingPause } from '../domain/sender.ts';
import { createLimits, type RequestSlot } from './limits.ts';
import { createMembership, type MembershipOptions } from './membership.ts';
import { type BatchStep, type ChannelStep, decide, NO_SEARCH, narrowed, type Situation } from './outcome.ts';
import { type Channel, createSchedule, GATHER_MS, NEVER } from './schedule.ts';
import { createSend, type SendOptions, type Sent } from './send.ts';

/** Pause after a failed call to the store. */
const STORE_PAUSE_MS = SECOND;
const CLOSE_TIMEOUT_MS = 5 * SECOND;
/** No wait that is stored for a blocked channel is longer, whatever the wall clock shows. */
const MAX_BLOCKED_MS = 6 * HOUR;
/** Maximum number of messages that one label change renders again: Discord takes about one edit a second per channel. */
const MAX_RELABELED = 200;

export interface DelivererOptions
  extends SendOptions,
    Pick<MembershipOptions, 'renderParked'>,
    Pick<Situation, 'uptimeSince'> {
  random?: () => number;
}

/** Posts alerts to Discord: one message in flight per channel, first in first out, servers and their channels in turn. */
export function startDeliverer(options: DelivererOptions) {
  const { store, clock, log, uptimeSince, random = Math.random } = options;
  const { outbox } = store;
  const schedule = createSchedule();
  const limits = createLimits(clock);
  const membership = createMembership(options);
  const { sendNew, repeat } = createSend(options);
  /** The turn of each channel that has one. */
  const inFlight = new Map<string, Promise<void>>();
  let isClosing = false;
  let cancelTimer = () => {};
  let cancelRescan = () => {};

  function run(): void {
    cancelTimer();
    if (isClosing) return;
    for (;;) {
      const now = clock.elapsed();
      const next = schedule.next(now, limits.guildWait);
      const slot = typeof next === 'number' ? next : limits.take(next.guildId);
      if (typeof slot === 'number') {
        if (slot < NEVER) cancelTimer = clock.after(slot, run);
        return;
      }
      const channel = next as Channel;
      schedule.begin(channel.id);
      inFlight.set(channel.id, serve(channel, slot));
    }
  }

  async function serve(channel: Channel, slot: RequestSlot): Promise<void> {
    const { id } = channel;
    let wakeAt = 0;
    try {
      wakeAt = await takeTurn(channel, slot);
    } catch (error) {
      schedule.postpone(id, clock.elapsed() + STORE_PAUSE_MS, 'retry');
      if (!isClosing) log.error({ err: error, channel: id }, 'sending paused');
    }
    slot.release();
    schedule.end(id, wakeAt);
    inFlight.delete(id);
    run();
  }

  /** Returns when the channel's next turn is due; 0: at once, unless it has to wait. */
  async function takeTurn(channel: Channel, slot: RequestSlot): Promise<number> {
    const { id } = channel;
    const { limit } = channel.search;
    const mayEdit = channel.editsDueAt <= clock.elapsed();
    const now = clock.now();
    const claimed = await outbox.claim(id, { limit, withoutCompanions: limit < MAX_ALERTS, mayEdit }, now);
    if (claimed === null) return NEVER;
    const { head, next } = claimed;
    if (next.status === 'nothing') {
      schedule.update(id, { waitsFor: next.isCollecting ? 'burst' : 'retry' });
      const due = next.until === null ? NEVER : clock.elapsed() + Math.max(0, next.until - now);
      return next.edit ? Math.min(due, channel.editsDueAt) : due;
    }
    if (head.state !== 'ready' && !channel.blocked) {
      schedule.update(id, { blocked: true, retryAt: clock.elapsed() + blockedFor(head) });
      return 0;
    }
    const { countRequest } = slot;
    const result = await (next.status === 'batch' ? repeat(next, countRequest) : sendNew(channel, next, countRequest));
    switch (result.status) {
      case 'changed':
        break;
      case 'unrenderable': {
        // It is searched for like one that Discord refuses: it must not delay the others.
        const { alerts, error } = result;
        const search = narrowed(channel.search, alerts.length);
        const reason = `It cannot be rendered: ${error.message}`;
        if (!search) await outbox.deadLetterUnrendered(alerts[0]!.id, reason, clock.now());
        schedule.update(id, { search: search ?? NO_SEARCH });
        break;
      }
      case 'not-edited': {
        const { batchId: batch, reason } = result;
        if (reason !== null) log.warn({ channel: id, guild: channel.guildId, batch, reason }, 'message not edited');
        await outbox.markEditFailed(batch, reason, clock.now());
        break;
      }
      case 'attempted':
        await finish(channel, head, result);
    }
    return 0;
  }

  const blockedFor = ({ dueAt }: ChannelHead): number => Math.min(MAX_BLOCKED_MS, Math.max(0, dueAt - clock.now()));

  async function finish(channel: Channel, head: ChannelHead, { attempt: made, outcome }: Sent): Promise<void> {
    const { id, guildId, search } = channel;
    const { kind, alerts, attempts, shown } = made;
    const [now, elapsed] = [clock.now(), clock.elapsed()];
    const receivedAt = head.state === 'ready' ? shown.receivedAt : null;
    options.metrics?.attempted({ kind, alerts, outcome, receivedAt }, now);
    const line = {
      channel: id,
      guild: guildId,
      batch: made.id,
      kind,
      alerts,
      attempt: attempts,
      outcome,
      inbox: shown.inboxIds,
      tx: shown.txHashes,
      ...(shown.receivedAt !== null && { ms: now - shown.receivedAt }),
    };
    const { batch, channel: step } = decide(outcome, made, { search, head, now, uptimeSince, random });
    limits.record(outcome, guildId);
    // Before the message is recorded: a wait lasts as long as Discord asked even if the store fails.
    switch (step.do) {
      case 'nothing':
        break;
      case 'open':
        // If the process is killed now, the message is only repeated with its nonce. In the other order, a blocked
        // channel would have nothing to send, and its next alert would wait for hours.
        if (step.wasBlocked) await membership.setReady(id);
        schedule.update(id, { blocked: false, retryAt: 0, search: NO_SEARCH });
        // What opened one channel may have opened the others.
        if (step.wasBlocked) schedule.retryBlocked(guildId);
        break;
      case 'postpone':
        schedule.postpone(id, elapsed + step.waitMs, step.reason);
        break;
      case 'postpone-edits':
        schedule.update(id, { editsDueAt: elapsed + step.waitMs });
        break;
      case 'search':
        schedule.update(id, { search: step.search ?? NO_SEARCH });
        break;
      case 'block':
        await block(id, guildId, step);
        break;
    }
    await storeStep(made.id, batch, now);
    if (outcome.status === 'sent') return log.info(line, 'message sent');
    const next = { message: batch.do, channel: step.do, ...('waitMs' in step && { waitMs: step.waitMs }) };
    log.warn({ ...line, next }, 'message not accepted');
  }

  async function storeStep(id: number, step: BatchStep, now: number): Promise<void> {
    switch (step.do) {
      case 'nothing':
        return;
      case 'mark-sent':
        return outbox.markSent(id, step.messageId, now);
      case 'mark-edited':
        return outbox.markEdited(id, now);
      case 'mark-edit-failed':
        return outbox.markEditFailed(id, null, now);
      case 'mark-not-sent':
        return outbox.markNotSent(id);
      case 'unfreeze':
        return outbox.unfreeze(id);
      case 'dead-letter':
        return outbox.deadLetter(id, step.reason, now);
    }
  }

  async function block(id: string, guildId: string, step: Extract<ChannelStep, { do: 'block' }>): Promise<void> {
    const { head, expired, waitMs } = step;
    if (expired !== null) await outbox.expire(id, expired, `${head.reason} for too long`, clock.now());
    const notified = await membership.setBlocked(id, guildId, step);
    // After it is stored: if that fails, the channel is tried again soon, and its state and notice are stored then.
    schedule.update(id, { blocked: true, retryAt: clock.elapsed() + waitMs });
    if (notified !== null) schedule.add({ channelId: notified, guildId }, clock.elapsed());
  }

  function wake(targets: readonly AlertTarget[]): void {
    const now = clock.elapsed();
    for (const target of targets) schedule.add(target, now);
    run();
  }

  async function rescan(): Promise<void> {
    if (isClosing) return;
    try {
      const now = clock.now();
      await outbox.endLongHolds(now);
      for (const { sleepUntil, ...head } of await outbox.channelsWithWork()) {
        const elapsed = clock.elapsed();
        const retryAt = head.state === 'ready' ? null : elapsed + blockedFor(head);
        schedule.addFound(head, elapsed + Math.max(0, sleepUntil - now), retryAt);
      }
      run();
    } catch (error) {
      if (isClosing) return;
      log.error({ err: error }, 'sending paused');
      cancelRescan();
      cancelRescan = clock.after(STORE_PAUSE_MS, () => void rescan());
    }
  }

  /** Tries one blocked channel for all, because permissions or channels of the guild changed. Changes come in series. */
  function probeGuild(guildId: string, channelId?: string): void {
    schedule.probe(guildId, channelId, clock.elapsed() + GATHER_MS);
  }

  async function relabel(guildId: string, addresses: readonly AddressText[]) {
    const now = clock.now();
    const found = await store.history.messagesShowing(guildId, addresses, now - DAY, MAX_RELABELED + 1);
    const latest = found.slice(0, MAX_RELABELED);
    wake(await outbox.requestRerender(latest, now));
    return { messages: latest.length, isAll: latest.length === found.length };
  }

  return {
    /** Resolves once everything that an earlier process left is known. */
    loaded: rescan(),
    ...({ wake, rescan } satisfies Outbox),
    relabel,
    guildRemoved: membership.recordRemoval,
    guildChanged(guildId: string, channelId?: string): void {
      membership.recordReturn(guildId);
      probeGuild(guildId, channelId);
      run();
    },
    async guildsSynced(guildIds: readonly string[], shard: Shard): Promise<void> {
      for (const guildId of await membership.sync(guildIds, shard)) probeGuild(guildId);
      run();
    },
    state: limits.state,
    guildPause(guildId: string): GuildPause | null {
      const pause = limits.guildPause(guildId);
      return pause && { ...pause, probeAt: pause.probeAt + clock.now() - clock.elapsed() };
    },
    pauses(guildId: string): SendingPause[] {
      const now = clock.elapsed();
      const toWall = clock.now() - now;
      const all = limits.pause();
      const pauses = [...(all ? [{ channelId: null, ...all }] : []), ...schedule.pauses(guildId, now)];
      return pauses.map((pause) => ({ ...pause, until: pause.until + toWall }));
    },
    async idle(): Promise<void> {
      while (inFlight.size > 0) await Promise.allSettled(inFlight.values());
    },
    /** Lets what is in flight finish, for five seconds at most; the rest is frozen in the store. */
    async close(): Promise<void> {
      isClosing = true;
      cancelTimer();
      cancelRescan();
      await inTime(Promise.allSettled(inFlight.values()), CLOSE_TIMEOUT_MS, clock);
    },
  };
}
