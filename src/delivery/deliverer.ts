import type { AddressText } from '../domain/address.ts';
import type { AlertTarget } from '../domain/alert.ts';
import { MAX_ALERTS } from '../domain/batch.ts';
import { DAY, HOUR, inTime, SECOND } from '../domain/clock.ts';
import type { ChannelHead, Shard } from '../domain/guild.ts';
import type { GuildPause, Outbox, SendingPause } from '../domain/sender.ts';
import { createLimits, type RequestSlot } from './limits.ts';
import { createMembership, type MembershipOptions } from './membership.ts';
import { type BatchStep, type ChannelStep, decide, FIRST_RETRY_MS, narrowed, type Situation } from './outcome.ts';
import { type Channel, createSchedule } from './schedule.ts';
import { createSend, type SendOptions, type Sent } from './send.ts';

/** After a failed call to the store: pause of a channel, or before the next look for channels. */
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
  const limits = createLimits();
  const membership = createMembership(options);
  const send = createSend(options);
  const inFlight = new Set<Promise<void>>();
  let isClosing = false;
  let cancelTimer = () => {};
  let cancelRescan = () => {};

  function run(): void {
    cancelTimer();
    if (isClosing) return;
    for (;;) {
      const now = clock.elapsed();
      const next = schedule.next(now, (guildId) => limits.guilds.wait(guildId, now));
      const slot = typeof next === 'number' ? next : limits.take(now);
      if (typeof slot === 'number') {
        if (slot < Number.POSITIVE_INFINITY) cancelTimer = clock.after(slot, run);
        return;
      }
      begin(next as Channel, slot);
    }
  }

  function begin({ id, guildId }: Channel, slot: RequestSlot): void {
    schedule.begin(id);
    if (guildId !== null) limits.guilds.begin(guildId);
    const work: Promise<void> = takeTurn(id, slot)
      .catch((error: unknown) => {
        schedule.postpone(id, clock.elapsed() + STORE_PAUSE_MS, 'retry');
        if (!isClosing) log.error({ err: error, channel: id }, 'sending paused');
      })
      .finally(() => {
        slot.release();
        if (guildId !== null) limits.guilds.end(guildId, clock.elapsed());
        schedule.end(id);
        inFlight.delete(work);
        run();
      });
    inFlight.add(work);
  }

  async function takeTurn(id: string, slot: RequestSlot): Promise<void> {
    const channel = schedule.get(id);
    const { limit } = channel.search;
    const take = { limit, alone: limit < MAX_ALERTS, mayChange: channel.editsDueAt <= clock.elapsed() };
    const now = clock.now();
    const { head, next } = await outbox.claim(id, take, now);
    if (next.status === 'nothing') {
      const until = next.until === null ? null : clock.elapsed() + Math.max(0, next.until - now);
      return schedule.sleep(id, { until, edit: next.change, burst: next.burst });
    }
    if (!channel.loaded && head && !load(id, head)) return;
    const result = await send(channel, next, () => slot.countRequest(clock.elapsed()));
    switch (result.status) {
      case 'changed':
        return;
      case 'unrenderable': {
        // It is searched for like one that Discord refuses: it must not delay the others.
        const { alerts, error } = result;
        const search = narrowed(channel.search, alerts.length);
        const reason = `It cannot be rendered: ${error.message}`;
        if (!search) await outbox.deadLetterUnrendered(alerts[0]!.id, reason, clock.now());
        return schedule.setSearch(id, search);
      }
      case 'not-edited': {
        const { batchId: batch, reason } = result;
        if (reason !== null) log.warn({ channel: id, guild: channel.guildId, batch, reason }, 'message not edited');
        return outbox.markEditFailed(batch, reason, clock.now());
      }
      case 'attempted':
        slot.release();
        return finish(channel, head, result);
    }
  }

  function load(id: string, head: ChannelHead): boolean {
    const { guildId } = head;
    // The stored state of the channel may be older than the bot's removal.
    const isRemoved = head.state === 'ready' && membership.isRemoved(guildId);
    if (isRemoved) membership.recordRemoval(guildId);
    const dueIn = isRemoved ? FIRST_RETRY_MS : blockedFor(head);
    const now = clock.elapsed();
    const blocked = isRemoved || head.state !== 'ready';
    schedule.setLoaded(id, { guildId, dueAt: now + dueIn, storedDueAt: head.dueAt, blocked });
    return dueIn === 0 && limits.guilds.pause(guildId, now) === null;
  }

  const blockedFor = ({ state, dueAt }: ChannelHead): number =>
    state === 'ready' ? 0 : Math.min(MAX_BLOCKED_MS, Math.max(0, dueAt - clock.now()));

  async function finish(channel: Channel, head: ChannelHead | null, { attempt: made, outcome }: Sent): Promise<void> {
    const { id, guildId, search } = channel;
    const { kind, alerts, attempts, shown } = made;
    const [now, elapsed] = [clock.now(), clock.elapsed()];
    if (outcome.status === 'sent') membership.confirm(guildId);
    const receivedAt = head === null || head.state === 'ready' ? shown.receivedAt : null;
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
    const isRemoved = membership.isRemoved(guildId);
    const { batch, channel: step } = decide(outcome, made, { search, head, isRemoved, now, uptimeSince, random });
    // At once: a wait lasts as long as Discord asked even if the store fails.
    limits.record(outcome, guildId, elapsed);
    if (step.do === 'postpone') schedule.postpone(id, elapsed + step.waitMs, step.reason);
    if (step.do === 'postpone-edits') schedule.postponeEdits(id, elapsed + step.waitMs);
    // Before the message is recorded: if that fails or the process is killed, the message is only repeated with its
    // nonce. In the other order, a blocked channel would have nothing to send, and its next alert would wait for hours.
    if (step.do === 'open' && step.wasBlocked) await membership.setReady(id);
    const more = await storeStep(made.id, batch, now);
    switch (step.do) {
      case 'nothing':
      case 'postpone':
      case 'postpone-edits':
        break;
      case 'open':
        open(id, guildId, more);
        break;
      case 'search':
        schedule.setSearch(id, step.search);
        break;
      case 'block':
        await block(id, guildId, step);
        break;
    }
    if (outcome.status === 'sent') return log.info(line, 'message sent');
    const next = { message: batch.do, channel: step.do, ...('waitMs' in step && { waitMs: step.waitMs }) };
    log.warn({ ...line, next }, 'message not accepted');
  }

  async function storeStep(id: number, step: BatchStep, now: number): Promise<boolean> {
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

  function open(id: string, guildId: string | null, more: boolean): void {
    const { probe } = schedule.get(id);
    schedule.recordSent(id, more);
    if (guildId !== null && (limits.guilds.release(guildId) || probe)) schedule.retryBlocked(guildId);
  }

  async function block(id: string, guildId: string | null, step: Extract<ChannelStep, { do: 'block' }>): Promise<void> {
    const { head, expired, waitMs } = step;
    if (expired !== null) await outbox.expire(id, expired, `${head.reason} for too long`, clock.now());
    const notified = await membership.setBlocked(id, guildId, step);
    // After it is stored: if that fails, the channel is tried again soon, and its state and notice are stored then.
    schedule.block(id, clock.elapsed() + waitMs, head.dueAt);
    if (notified !== null) schedule.add({ channelId: notified, ...(guildId !== null && { guildId }) }, clock.elapsed());
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
        const { channelId: id, guildId, state, dueAt: storedDueAt } = head;
        const elapsed = clock.elapsed();
        const waits = { dueAt: elapsed + blockedFor(head), sleepUntil: elapsed + Math.max(0, sleepUntil - now) };
        schedule.addFound(id, guildId, { ...waits, storedDueAt, blocked: state !== 'ready' });
      }
      run();
    } catch (error) {
      if (isClosing) return;
      log.error({ err: error }, 'sending paused');
      // Otherwise each rescan that fails would begin its own series of retries.
      cancelRescan();
      cancelRescan = clock.after(STORE_PAUSE_MS, () => void rescan());
    }
  }

  /** Tries one blocked channel for all, because permissions or channels of the guild changed. */
  function probeGuild(guildId: string, channelId?: string): void {
    const now = clock.elapsed();
    const probeAt = limits.guilds.changeProbeAt(guildId, now);
    const isPlanned = schedule.probe(guildId, channelId, probeAt) ?? limits.guilds.pause(guildId, now) !== null;
    if (isPlanned) limits.guilds.recordChangeProbe(guildId, probeAt, now);
  }

  async function relabel(guildId: string, addresses: readonly AddressText[]) {
    const now = clock.now();
    const found = await store.history.messagesShowing(guildId, addresses, now - DAY, MAX_RELABELED + 1);
    const latest = found.slice(0, MAX_RELABELED);
    const channels = latest.length === 0 ? [] : await outbox.requestRerender(latest, now);
    wake(channels.map((channelId) => ({ channelId, guildId })));
    return { messages: latest.length, isAll: latest.length === found.length };
  }

  return {
    /** Resolves once everything that an earlier process left is known. */
    loaded: rescan(),
    ...({ wake, rescan } satisfies Outbox),
    relabel,
    guildRemoved: membership.recordRemoval,
    channelRemoved: membership.recordRemovedChannel,
    guildUsed: membership.recordUse,
    guildChanged(guildId: string, channelId?: string): void {
      membership.recordReturn(guildId);
      probeGuild(guildId, channelId);
      run();
    },
    async guildsSynced(guildIds: readonly string[], shard: Shard): Promise<void> {
      for (const guildId of await membership.sync(guildIds, shard)) probeGuild(guildId);
      run();
    },
    /** The gateway's token, which is the deliverer's too, was accepted or refused. */
    tokenChecked: (isAccepted: boolean): void => limits.recordTokenCheck(isAccepted, clock.elapsed()),
    state: () => limits.state(clock.elapsed()),
    guildPause(guildId: string): GuildPause | null {
      const pause = limits.guilds.pause(guildId, clock.elapsed());
      if (!pause) return null;
      const toWall = clock.now() - clock.elapsed();
      return { ...pause, since: pause.since + toWall, probeAt: pause.probeAt + toWall };
    },
    pauses(guildId: string): SendingPause[] {
      const now = clock.elapsed();
      const all = limits.pause(now);
      const pauses = [...(all ? [{ channelId: null, ...all }] : []), ...schedule.pauses(guildId, now)];
      return pauses.map(({ waitMs, ...pause }) => ({ ...pause, until: clock.now() + waitMs }));
    },
    async idle(): Promise<void> {
      while (inFlight.size > 0) await Promise.allSettled(inFlight);
    },
    /** Lets what is in flight finish, for five seconds at most; the rest is frozen in the store. */
    async close(): Promise<void> {
      isClosing = true;
      membership.close();
      cancelTimer();
      cancelRescan();
      await inTime(Promise.allSettled(inFlight), CLOSE_TIMEOUT_MS, clock);
    },
  };
}
