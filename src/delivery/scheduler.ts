import type { AlertTarget } from '../domain/alert.ts';
import type { ChannelHead } from '../domain/channel.ts';
import type { GuildHold, SendingPause } from '../domain/hold.ts';
import { NO_SEARCH, type Search, widened } from './bisect.ts';
import { type Channel, createChannelTable, type FoundChannel } from './channel-table.ts';
import { createEditSlots } from './edit-slots.ts';
import { createGuildBudgets } from './guild-budget.ts';
import { createPriority } from './priority.ts';
import type { SlotPolicy } from './request-window.ts';

const NEVER = Number.POSITIVE_INFINITY;

/** The channel whose turn it is and its slot policy, or how long nothing is due. */
export type Decision = { channel: Channel; policy: SlotPolicy } | { channel: null; waitMs: number };

/** The owner of every channel's state. */
export type Scheduler = ReturnType<typeof createScheduler>;

/** Decides which channel sends next. Time is always an argument; nothing is read, sent or stored. */
export function createScheduler() {
  const channels = createChannelTable();
  const priority = createPriority();
  const budgets = createGuildBudgets();
  const edits = createEditSlots();

  function slotTaken(guildId: string): void {
    priority.slotTaken(guildId);
    budgets.began(guildId);
  }

  /** Tries a guild's parked channels at once, within its budget. */
  function retryParked(guildId: string): void {
    for (const channel of channels.ofGuild(guildId)) if (channel.parked) channel.dueAt = 0;
  }

  return {
    /** These channels have something new, named once for each alert, after this many events. */
    arrived(targets: readonly AlertTarget[], events: number, now: number): void {
      priority.eventsArrived(events, now);
      // All guilds first: one with very many channels is then known by its first ones.
      for (const { channelId, guildId } of targets) if (guildId !== undefined) channels.setGuild(channelId, guildId);
      for (const { channelId } of targets) channels.add(channelId, now, null);
    },
    /** The store has alerts for a channel. */
    found(channel: FoundChannel, now: number): void {
      channels.setGuild(channel.channelId, channel.guildId);
      channels.add(channel.channelId, now, channel);
    },
    next(now: number): Decision {
      let first: Channel | null = null;
      let waitMs = NEVER;
      for (const channel of channels.all()) {
        if (channel.busy) continue;
        const wait = Math.max(channel.dueAt - now, channel.sleepUntil - now, budgets.wait(channel.guildId, now));
        if (wait > 0) waitMs = Math.min(waitMs, wait);
        else if (!first || priority.comesBefore(channel, first, now)) first = channel;
      }
      return first ? { channel: first, policy: priority.policyOf(first, now) } : { channel: null, waitMs };
    },
    /** A channel got a slot; it moves to the back of the queue. */
    began(id: string): void {
      const channel = channels.moveToBack(id);
      Object.assign(channel, { busy: true, dirty: false, done: false, alerts: 0 });
      if (channel.guildId !== null) slotTaken(channel.guildId);
    },
    /** A channel's slot is over. It is forgotten if it has nothing more. */
    ended(id: string, now: number): void {
      const channel = channels.get(id);
      if (channel.guildId !== null) budgets.ended(channel.guildId, now);
      if (channel.done && !channel.dirty) channels.forget(id);
      else Object.assign(channel, { busy: false, queuedAt: now });
    },
    /** What the store knows about a channel that an alert named first. */
    loaded(id: string, { guildId, dueAt, state }: Pick<ChannelHead, 'guildId' | 'dueAt' | 'state'>): void {
      if (channels.find(id)?.guildId === null) slotTaken(guildId);
      channels.setGuild(id, guildId);
      channels.change(id, { guildId, dueAt, parked: state !== 'ready', loaded: true });
    },
    /** A channel claimed what it sends next, beside which this many alerts wait in all. */
    claimed(id: string, { alerts, isEdit }: { alerts: number; isEdit: boolean }): void {
      const channel = channels.get(id);
      channel.alerts += alerts;
      if (isEdit) channel.hasEditSlot = false;
    },
    /** A message with this many alerts got a response. */
    answered(id: string, alerts: number): void {
      const channel = channels.get(id);
      channel.alerts = Math.max(0, channel.alerts - alerts);
    },
    /** A message was sent; `more`: the store may have more for the channel. */
    sent(id: string, more: boolean): void {
      const { search, guildId, probe } = channels.get(id);
      channels.change(id, {
        dueAt: 0,
        waitsFor: null,
        parked: false,
        probe: false,
        search: widened(search),
        done: !more,
      });
      if (guildId === null) return;
      if (probe || budgets.isHeld(guildId)) retryParked(guildId);
      budgets.passed(guildId);
    },
    /** Discord refused a request of the channel; when its guild has too many of these, all its channels wait. */
    refusalCounted(id: string, now: number): void {
      const { guildId } = channels.get(id);
      if (guildId !== null) budgets.refused(guildId, now);
    },
    /** Whether the channel may not use its slot: others of its guild were refused too often. */
    isHeld: (id: string): boolean => {
      const { guildId } = channels.get(id);
      return guildId !== null && budgets.isHeld(guildId);
    },
    /** The state of a guild whose channels wait together; null: they do not wait. */
    hold: (guildId: string, now: number): GuildHold | null => budgets.hold(guildId, now),
    /** Why a guild's channels send nothing now although something is due there. */
    pauses: (guildId: string, now: number): SendingPause[] =>
      channels.ofGuild(guildId).flatMap(({ id, parked, waitsFor, dueAt, sleepUntil }) => {
        const until = Math.max(dueAt, sleepUntil);
        if (parked || waitsFor === null || until <= now) return [];
        return [{ channelId: id, reason: waitsFor, until }];
      }),
    /** How many guilds have channels that wait together. */
    heldGuilds: budgets.heldGuilds,
    /** The channel waits until then, and keeps everything else. */
    postponed: (id: string, until: number, waitsFor: 'rate' | 'retry' = 'retry'): void =>
      channels.change(id, { dueAt: until, waitsFor }),
    /** The channel's edits wait until then; its new alerts do not. */
    editsPostponed: (id: string, until: number): void => channels.change(id, { editsDueAt: until }),
    /** The channel cannot be written to; it is tried again then. */
    parked: (id: string, until: number): void => channels.change(id, { parked: true, probe: false, dueAt: until }),
    /** Its message failed because of an alert in it; null: that alert was found. */
    refused: (id: string, search: Search | null): void => channels.change(id, { search: search ?? NO_SEARCH }),
    /** Nothing is due until then (null: at all), except an edit that waits: the channel gets a slot for that. */
    slept(
      id: string,
      { until, edit, burst = false }: { until: number | null; edit: boolean; burst?: boolean },
      now: number,
    ): void {
      const channel = channels.get(id);
      channel.waitsFor = burst ? 'burst' : null;
      if (channel.dirty) return;
      if (until === null && !edit) {
        channel.done = true;
        return;
      }
      const slotAt = edit && !channel.hasEditSlot ? edits.take(channel.editsDueAt, now) : null;
      if (slotAt !== null) Object.assign(channel, { editsDueAt: slotAt, hasEditSlot: true });
      channel.sleepUntil = Math.min(until ?? NEVER, edit ? channel.editsDueAt : NEVER);
    },
    /** Whether a channel may edit one of its messages now. */
    mayEdit: ({ hasEditSlot, editsDueAt }: Channel, now: number): boolean => hasEditSlot && editsDueAt <= now,
    /**
     * Permissions or channels of a guild changed: one parked channel is tried for all, the one that changed where it is
     * known. Changes that follow each other quickly share a probe.
     */
    guildChanged(guildId: string, now: number, channelId?: string): void {
      const probeAt = budgets.changeProbeAt(guildId, now);
      const parked = channels.ofGuild(guildId).filter((one) => one.parked && !one.busy);
      const awaited = parked.find((one) => one.probe);
      const probe = parked.find(({ id }) => id === channelId) ?? awaited ?? parked[0];
      if (probe ? probe.probe && probe.dueAt <= probeAt : !budgets.isHeld(guildId)) return;
      if (probe) Object.assign(probe, { probe: true, dueAt: Math.min(probe.dueAt, probeAt) });
      budgets.changeProbed(guildId, probeAt, now);
    },
    /** The clock was set back: no channel waits that much longer. */
    setBack(ms: number): void {
      priority.setBack(ms);
      budgets.setBack(ms);
      edits.setBack(ms);
      channels.setBack(ms);
    },
  };
}
