import type { AlertTarget } from '../domain/alert.ts';
import type { ChannelHead } from '../domain/channel.ts';
import { SECOND } from '../domain/clock.ts';
import type { GuildHold, SendingPause } from '../domain/hold.ts';
import { MAX_ALERTS, NO_SEARCH, type Search, widened } from './bisect.ts';
import { createGuildBudgets } from './guild-budget.ts';
import { createPriority, type Waiting } from './priority.ts';
import { PER_SECOND, type SlotPolicy } from './request-window.ts';

/** Time between two edits: half of the requests stay free for new alerts at any moment. */
const EDIT_SPACING_MS = (2 * SECOND) / PER_SECOND;
const NEVER = Number.POSITIVE_INFINITY;

/** A channel that has something to send, now or later. Only the scheduler changes it. */
export interface Channel extends Waiting {
  readonly id: string;
  /** Its stored state is known. */
  readonly loaded: boolean;
  /** No request is made before. */
  readonly dueAt: number;
  /** Nothing is due before, unless something new arrives. */
  readonly sleepUntil: number;
  /** No sent message is edited before, except to append alerts: Discord limits edits separately. */
  readonly editsDueAt: number;
  /** It may edit a message at `editsDueAt`. */
  readonly hasEditSlot: boolean;
  /** A request is in flight, or about to be. */
  readonly busy: boolean;
  /** Something new arrived while it was busy. */
  readonly dirty: boolean;
  /** The store has nothing more for it, now or later. */
  readonly done: boolean;
  /** Parked or unreachable, as far as is known. */
  readonly parked: boolean;
  /** It is tried for all parked channels of its guild: when it can be written to, the others are tried too. */
  readonly probe: boolean;
  readonly search: Search;
  /** Why it sends nothing before `dueAt` or `sleepUntil`; null: nothing is due. */
  readonly waitsFor: 'rate' | 'retry' | 'burst' | null;
}

/** The channel whose turn it is and its slot policy, or how long nothing is due. */
export type Decision = { channel: Channel; policy: SlotPolicy } | { channel: null; waitMs: number };

/** What the store knows about a channel with alerts. */
export interface FoundChannel extends Pick<Channel, 'dueAt' | 'sleepUntil' | 'parked'> {
  channelId: string;
  guildId: string;
}

/** The owner of every channel's state. */
export type Scheduler = ReturnType<typeof createScheduler>;

type Entry = { -readonly [Key in keyof Channel]: Channel[Key] };

/** Decides which channel sends next. Time is always an argument; nothing is read, sent or stored. */
export function createScheduler() {
  const channels = new Map<string, Entry>();
  /** A channel is forgotten when it has nothing more to send, its guild is not. */
  const guildOf = new Map<string, string>();
  const priority = createPriority();
  const budgets = createGuildBudgets();
  /** No edit before. */
  let editsFrom = Number.NEGATIVE_INFINITY;

  /** Changes a channel, unless it was forgotten. */
  function change(id: string, changed: Partial<Entry>): void {
    Object.assign(channels.get(id) ?? {}, changed);
  }

  function slotTaken(guildId: string): void {
    priority.slotTaken(guildId);
    budgets.began(guildId);
  }

  /** Tries a guild's parked channels at once, within its budget. */
  function retryParked(guildId: string): void {
    for (const channel of channels.values()) if (channel.parked && channel.guildId === guildId) channel.dueAt = 0;
  }

  /** A channel has one more alert, or it was `found` to have some. */
  function add(id: string, now: number, found: FoundChannel | null): void {
    const known = channels.get(id);
    if (!known) {
      channels.set(id, newChannel(id, guildOf.get(id) ?? null, now, found));
      return;
    }
    if (known.alerts === 0) known.queuedAt = now;
    known.alerts = found ? Math.max(1, known.alerts) : known.alerts + 1;
    known.dirty = true;
    known.sleepUntil = Math.min(known.sleepUntil, found?.sleepUntil ?? 0);
    // The operator put a dead letter back there, to be tried at once.
    if (known.parked && found?.parked && found.dueAt === 0) known.dueAt = 0;
  }

  return {
    /** These channels have something new, named once for each alert, after this many events. */
    arrived(targets: readonly AlertTarget[], events: number, now: number): void {
      priority.eventsArrived(events, now);
      // All guilds first: one with very many channels is then known by its first ones.
      for (const { channelId, guildId } of targets) if (guildId !== undefined) guildOf.set(channelId, guildId);
      for (const { channelId } of targets) add(channelId, now, null);
    },
    /** The store has alerts for a channel. */
    found(channel: FoundChannel, now: number): void {
      guildOf.set(channel.channelId, channel.guildId);
      add(channel.channelId, now, channel);
    },
    next(now: number): Decision {
      let first: Channel | null = null;
      let waitMs = NEVER;
      for (const channel of channels.values()) {
        if (channel.busy) continue;
        const wait = Math.max(channel.dueAt - now, channel.sleepUntil - now, budgets.wait(channel.guildId, now));
        if (wait > 0) waitMs = Math.min(waitMs, wait);
        else if (!first || priority.comesBefore(channel, first, now)) first = channel;
      }
      return first ? { channel: first, policy: priority.policyOf(first, now) } : { channel: null, waitMs };
    },
    /** A channel got a slot; it moves to the back of the queue. */
    began(id: string): void {
      const channel = channels.get(id)!;
      channels.delete(id);
      channels.set(id, channel);
      Object.assign(channel, { busy: true, dirty: false, done: false, alerts: 0 });
      if (channel.guildId !== null) slotTaken(channel.guildId);
    },
    /** A channel's slot is over. It is forgotten if it has nothing more. */
    ended(id: string, now: number): void {
      const channel = channels.get(id)!;
      if (channel.guildId !== null) budgets.ended(channel.guildId, now);
      if (channel.done && !channel.dirty) channels.delete(id);
      else Object.assign(channel, { busy: false, queuedAt: now });
    },
    /** What the store knows about a channel that an alert named first. */
    loaded(id: string, { guildId, dueAt, state }: Pick<ChannelHead, 'guildId' | 'dueAt' | 'state'>): void {
      if (channels.get(id)?.guildId === null) slotTaken(guildId);
      guildOf.set(id, guildId);
      change(id, { guildId, dueAt, parked: state !== 'ready', loaded: true });
    },
    /** A channel claimed what it sends next, beside which this many alerts wait in all. */
    claimed(id: string, { alerts, isEdit }: { alerts: number; isEdit: boolean }): void {
      const channel = channels.get(id)!;
      channel.alerts += alerts;
      if (isEdit) channel.hasEditSlot = false;
    },
    /** A message with this many alerts was answered. */
    answered(id: string, alerts: number): void {
      const channel = channels.get(id)!;
      channel.alerts = Math.max(0, channel.alerts - alerts);
    },
    /** A message was sent; `more`: the store may have more for the channel. */
    sent(id: string, more: boolean): void {
      const { search, guildId, probe } = channels.get(id)!;
      change(id, { dueAt: 0, waitsFor: null, parked: false, probe: false, search: widened(search), done: !more });
      if (guildId === null) return;
      if (probe || budgets.isHeld(guildId)) retryParked(guildId);
      budgets.passed(guildId);
    },
    /** Discord refused a request of the channel; when its guild has too many of these, all its channels wait. */
    refusalCounted(id: string, now: number): void {
      const { guildId } = channels.get(id)!;
      if (guildId !== null) budgets.refused(guildId, now);
    },
    /** Whether the channel may not use its slot: others of its guild were refused too often. */
    isHeld: (id: string): boolean => {
      const { guildId } = channels.get(id)!;
      return guildId !== null && budgets.isHeld(guildId);
    },
    /** The state of a guild whose channels wait together; null: they do not wait. */
    hold: (guildId: string, now: number): GuildHold | null => budgets.hold(guildId, now),
    /** Why a guild's channels send nothing now although something is due there. */
    pauses: (guildId: string, now: number): SendingPause[] =>
      [...channels.values()].flatMap(({ id, guildId: of, parked, waitsFor, dueAt, sleepUntil }) => {
        const until = Math.max(dueAt, sleepUntil);
        if (of !== guildId || parked || waitsFor === null || until <= now) return [];
        return [{ channelId: id, reason: waitsFor, until }];
      }),
    /** How many guilds have channels that wait together. */
    heldGuilds: budgets.heldGuilds,
    /** The channel waits until then, and keeps everything else. */
    postponed: (id: string, until: number, waitsFor: 'rate' | 'retry' = 'retry'): void =>
      change(id, { dueAt: until, waitsFor }),
    /** The channel's edits wait until then; its new alerts do not. */
    editsPostponed: (id: string, until: number): void => change(id, { editsDueAt: until }),
    /** The channel cannot be written to; it is tried again then. */
    parked: (id: string, until: number): void => change(id, { parked: true, probe: false, dueAt: until }),
    /** Its message failed because of an alert in it; null: that alert was found. */
    refused: (id: string, search: Search | null): void => change(id, { search: search ?? NO_SEARCH }),
    /** Nothing is due until then (null: at all), except an edit that waits: the channel gets a slot for that. */
    slept(
      id: string,
      { until, edit, burst = false }: { until: number | null; edit: boolean; burst?: boolean },
      now: number,
    ): void {
      const channel = channels.get(id)!;
      channel.waitsFor = burst ? 'burst' : null;
      if (channel.dirty) return;
      if (until === null && !edit) {
        channel.done = true;
        return;
      }
      const slotAt = Math.max(now, editsFrom);
      if (edit && !channel.hasEditSlot && channel.editsDueAt <= slotAt) {
        channel.editsDueAt = slotAt;
        channel.hasEditSlot = true;
        editsFrom = slotAt + EDIT_SPACING_MS;
      }
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
      const parked = [...channels.values()].filter((one) => one.parked && !one.busy && one.guildId === guildId);
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
      editsFrom -= ms;
      for (const channel of channels.values()) {
        channel.dueAt -= ms;
        channel.editsDueAt -= ms;
        channel.sleepUntil -= ms;
        channel.queuedAt -= ms;
      }
    },
  };
}

function newChannel(id: string, guildId: string | null, now: number, found: FoundChannel | null): Entry {
  return {
    id,
    guildId,
    loaded: found !== null,
    dueAt: found?.dueAt ?? 0,
    sleepUntil: found?.sleepUntil ?? 0,
    editsDueAt: 0,
    hasEditSlot: false,
    busy: false,
    dirty: false,
    done: false,
    parked: found?.parked ?? false,
    probe: false,
    // What was found may fill a message.
    alerts: found ? MAX_ALERTS : 1,
    queuedAt: now,
    search: NO_SEARCH,
    waitsFor: null,
  };
}
