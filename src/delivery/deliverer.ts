import type { AddressText } from '../domain/address.ts';
import type { AlertTarget } from '../domain/alert.ts';
import { MAX_ALERTS, type NextMessage } from '../domain/batch.ts';
import type { ChannelHead, Shard } from '../domain/channel.ts';
import { DAY, HOUR, inTime, SECOND } from '../domain/clock.ts';
import type { GuildPause, Outbox, SendingPause } from '../domain/sender.ts';
import { createOutcomes } from './apply-outcome.ts';
import { createLimits, type RequestSlot } from './limits.ts';
import { createMembership, type MembershipOptions } from './membership.ts';
import { FIRST_RETRY_MS } from './outcome.ts';
import { type Channel, createSchedule } from './schedule.ts';
import { createSend, type SendOptions, type Sent } from './send.ts';

/** Pause of a channel, or before the next look for channels, after a failed call to the store. */
const STORE_PAUSE_MS = SECOND;
const CLOSE_TIMEOUT_MS = 5 * SECOND;
/** No wait that is stored for a blocked channel is longer, whatever the wall clock shows. */
const MAX_BLOCKED_MS = 6 * HOUR;
/** Maximum number of messages that one label change renders again: Discord takes about one edit a second per channel. */
const MAX_RELABELED = 200;

export interface DelivererOptions extends SendOptions, Pick<MembershipOptions, 'renderParked'> {
  random?: () => number;
  /** The time since which the bot could send for this many milliseconds: deadlines count only such time. */
  uptimeSince(ms: number): number;
}

/** Posts alerts to Discord: one message in flight per channel, first in first out, servers and their channels in turn. */
export function startDeliverer(options: DelivererOptions) {
  const { store, clock, log, random = Math.random } = options;
  const schedule = createSchedule();
  const limits = createLimits();
  const membership = createMembership(options);
  const outcomes = createOutcomes({ ...options, schedule, limits, membership, random });
  const send = createSend(options);
  const inFlight = new Set<Promise<void>>();
  let isClosing = false;
  let cancelTimer = () => {};
  let cancelRescan = () => {};

  /** Gives turns to channels until nothing is due or the limits are reached, and plans the next look. */
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
    const { head, next } = await store.outbox.claim(id, take, now);
    if (next.status === 'nothing') {
      const until = next.until === null ? null : clock.elapsed() + Math.max(0, next.until - now);
      return schedule.sleep(id, { until, edit: next.change, burst: next.burst });
    }
    if (!channel.loaded && head && !load(id, head)) return;
    await attempt(channel, head, next, slot);
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

  async function attempt(
    channel: Channel,
    head: ChannelHead | null,
    next: Exclude<NextMessage, { status: 'nothing' }>,
    slot: RequestSlot,
  ): Promise<void> {
    const result = await send(channel, next, () => slot.countRequest(clock.elapsed()));
    switch (result.status) {
      case 'changed':
        return;
      case 'unrenderable':
        return outcomes.unrenderable(channel, result.alerts, result.error);
      case 'not-edited': {
        const { batchId, reason } = result;
        if (reason !== null)
          log.warn({ channel: channel.id, guild: channel.guildId, batch: batchId, reason }, 'message not edited');
        return outcomes.notEdited(batchId, reason);
      }
      case 'attempted':
        slot.release();
        return finish(channel, head, result);
    }
  }

  async function finish(channel: Channel, head: ChannelHead | null, { attempt: made, outcome }: Sent): Promise<void> {
    const { id, guildId } = channel;
    const { kind, alerts, attempts, shown } = made;
    if (outcome.status === 'sent') membership.confirm(guildId);
    const wasBlocked = head !== null && head.state !== 'ready';
    const receivedAt = wasBlocked ? null : shown.receivedAt;
    options.metrics?.attempted({ kind, alerts, outcome, receivedAt }, clock.now());
    const line = { channel: id, guild: guildId, batch: made.id, kind, alerts, attempt: attempts, outcome };
    const ms = shown.receivedAt === null ? {} : { ms: clock.now() - shown.receivedAt };
    const wide = { ...line, inbox: shown.inboxIds, tx: shown.txHashes, ...ms };
    const after = await outcomes.apply(channel, head, made, outcome);
    if (outcome.status === 'sent') log.info(wide, 'message sent');
    else log.warn({ ...wide, next: after }, 'message not accepted');
  }

  function wake(targets: readonly AlertTarget[]): void {
    const now = clock.elapsed();
    for (const target of targets) schedule.add(target, now);
    run();
  }

  /** Finds every channel with something in the store; retries until the store responds. */
  async function rescan(): Promise<void> {
    if (isClosing) return;
    try {
      const now = clock.now();
      await store.outbox.endLongHolds(now);
      for (const { sleepUntil, ...head } of await store.outbox.channelsWithWork()) {
        const { channelId: id, guildId, state, dueAt: storedDueAt } = head;
        const sleepFor = Math.max(0, sleepUntil - now);
        const found = { id, guildId, storedDueAt, blocked: state !== 'ready', dueIn: blockedFor(head), sleepFor };
        schedule.addFound(found, clock.elapsed());
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

  /** Tries one blocked channel of a guild for all, because permissions or channels changed there: see `Schedule.probe`. */
  function probeGuild(guildId: string, channelId?: string): void {
    const now = clock.elapsed();
    const probeAt = limits.guilds.changeProbeAt(guildId, now);
    const isPlanned = schedule.probe(guildId, channelId, probeAt) ?? limits.guilds.pause(guildId, now) !== null;
    if (isPlanned) limits.guilds.recordChangeProbe(guildId, probeAt, now);
  }

  /** Re-renders a guild's messages that show one of these addresses: the latest 200 of the last day, sent or not. */
  async function relabel(guildId: string, addresses: readonly AddressText[]) {
    const now = clock.now();
    const found = await store.history.messagesShowing(guildId, addresses, now - DAY, MAX_RELABELED + 1);
    const latest = found.slice(0, MAX_RELABELED);
    const channels = latest.length === 0 ? [] : await store.outbox.requestRerender(latest, now);
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
    /** The pause of a guild whose channels wait together after too many refusals; null: they do not. */
    guildPause(guildId: string): GuildPause | null {
      const pause = limits.guilds.pause(guildId, clock.elapsed());
      if (!pause) return null;
      const toWall = clock.now() - clock.elapsed();
      return { ...pause, since: pause.since + toWall, probeAt: pause.probeAt + toWall };
    },
    /** Why due alerts of a guild are not sent now: first what concerns every channel. */
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
