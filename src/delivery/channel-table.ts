import { MAX_ALERTS } from '../domain/batch.ts';
import type { ChannelHead } from '../domain/channel.ts';
import { NO_SEARCH, type Search, widened } from './bisect.ts';
import type { Waiting } from './priority.ts';

/** A channel that has something to send, now or later. Only the scheduler changes it. */
export interface Channel extends Waiting {
  readonly id: string;
  /** Its stored state is known. */
  readonly loaded: boolean;
  /** No request is made before. */
  readonly dueAt: number;
  /** `dueAt` in the store, as far as is known. */
  readonly storedDueAt: number;
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
  readonly blocked: boolean;
  /** It is tried for all blocked channels of its guild: when the bot can post in it, the others are tried too. */
  readonly probe: boolean;
  readonly search: Search;
  /** Why it sends nothing before `dueAt` or `sleepUntil`; null: nothing is due. */
  readonly waitsFor: 'rate' | 'retry' | 'burst' | null;
}

/** What the store knows about a channel with alerts. */
export interface FoundChannel extends Pick<Channel, 'dueAt' | 'sleepUntil' | 'blocked'> {
  channelId: string;
  guildId: string;
}

type Entry = { -readonly [Key in keyof Channel]: Channel[Key] };

/** The table of channels. */
export type ChannelTable = ReturnType<typeof createChannelTable>;

/** The channels that have something to send, in the order of their turns. */
export function createChannelTable() {
  const channels = new Map<string, Entry>();
  /** A channel is forgotten when it has nothing more to send, its guild is not. */
  const guildOf = new Map<string, string>();
  /** A channel that is in the table. */
  const get = (id: string): Entry => channels.get(id)!;
  const set = (id: string, changed: Partial<Entry>): void => void Object.assign(get(id), changed);
  return {
    all: (): Iterable<Channel> => channels.values(),
    ofGuild: (guildId: string): Channel[] =>
      channels
        .values()
        .filter((one) => one.guildId === guildId)
        .toArray(),
    get: (id: string): Channel => get(id),
    setGuild: (id: string, guildId: string): void => void guildOf.set(id, guildId),
    /** Adds one alert of a channel, or a channel that was `found` to have some. */
    add(id: string, now: number, found: FoundChannel | null): void {
      const known = channels.get(id);
      if (!known) {
        channels.set(id, newChannel(id, guildOf.get(id) ?? null, now, found));
        return;
      }
      if (known.alerts === 0) known.queuedAt = now;
      known.alerts = found ? Math.max(1, known.alerts) : known.alerts + 1;
      known.dirty = true;
      known.sleepUntil = Math.min(known.sleepUntil, found?.sleepUntil ?? 0);
      // Another process brought the next attempt forward: the operator put a dead letter back there.
      if (!known.busy && known.blocked && found?.blocked && found.dueAt < known.storedDueAt)
        set(id, { dueAt: Math.min(known.dueAt, found.dueAt), storedDueAt: found.dueAt });
    },
    /** Sets what the store knows about a channel. */
    setLoaded(id: string, { guildId, dueAt, state }: Pick<ChannelHead, 'guildId' | 'dueAt' | 'state'>): void {
      guildOf.set(id, guildId);
      set(id, { guildId, dueAt, storedDueAt: dueAt, blocked: state !== 'ready', loaded: true });
    },
    /** Marks a channel as busy and moves it to the back. */
    beginSlot(id: string): void {
      const channel = get(id);
      channels.delete(id);
      channels.set(id, channel);
      set(id, { busy: true, dirty: false, done: false, alerts: 0 });
    },
    /** Marks a channel as no longer busy; forgets it if it has nothing more. */
    endSlot(id: string, now: number): void {
      const channel = get(id);
      if (channel.done && !channel.dirty) channels.delete(id);
      else set(id, { busy: false, queuedAt: now });
    },
    /** Adds the alerts that wait for a channel's next message; the edit slot of an edit is used up. */
    recordClaim(id: string, claim: { alerts: number; isEdit: boolean }): void {
      const { alerts, hasEditSlot } = get(id);
      set(id, { alerts: alerts + claim.alerts, hasEditSlot: hasEditSlot && !claim.isEdit });
    },
    /** Subtracts the alerts of a message that got a response. */
    recordResponse: (id: string, alerts: number): void => set(id, { alerts: Math.max(0, get(id).alerts - alerts) }),
    /** Records that a message was sent; `more`: the store may have more for the channel. */
    recordSent(id: string, more: boolean): void {
      const search = widened(get(id).search);
      set(id, { dueAt: 0, waitsFor: null, blocked: false, probe: false, search, done: !more });
    },
    /** Begins or continues the search for an alert that fails its message; null: it was found. */
    setSearch: (id: string, search: Search | null): void => set(id, { search: search ?? NO_SEARCH }),
    /** Makes a channel wait until then at least, and keeps everything else. */
    postpone(id: string, until: number, waitsFor: 'rate' | 'retry' = 'retry'): void {
      if (until > get(id).dueAt) set(id, { dueAt: until, waitsFor });
    },
    /** Makes a channel's edits wait until then; its new alerts do not. */
    postponeEdits: (id: string, until: number): void => set(id, { editsDueAt: until }),
    /** Records that the bot cannot post in a channel; it is tried again then. */
    block: (id: string, until: number): void =>
      set(id, { blocked: true, probe: false, dueAt: until, storedDueAt: until }),
    /** Makes a blocked channel the probe of its guild, at that time at the latest. */
    probe: (id: string, probeAt: number): void => set(id, { probe: true, dueAt: Math.min(get(id).dueAt, probeAt) }),
    /** Tries a guild's blocked channels at once, within its budget. */
    retryBlocked(guildId: string): void {
      for (const channel of channels.values()) if (channel.guildId === guildId && channel.blocked) channel.dueAt = 0;
    },
    /** Sets whether a channel with nothing due collects alerts of a burst. */
    setBurst: (id: string, burst: boolean): void => set(id, { waitsFor: burst ? 'burst' : null }),
    /** Makes a channel wait until then, unless something new arrives; null: the store has nothing more for it. */
    sleep: (id: string, until: number | null): void => set(id, until === null ? { done: true } : { sleepUntil: until }),
    /** Lets a channel edit one of its messages at that time. */
    setEditSlot: (id: string, at: number): void => set(id, { hasEditSlot: true, editsDueAt: at }),
    /** Shortens waits by the amount that the clock was set back. */
    setBack(ms: number): void {
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
    storedDueAt: found?.dueAt ?? 0,
    sleepUntil: found?.sleepUntil ?? 0,
    editsDueAt: 0,
    hasEditSlot: false,
    busy: false,
    dirty: false,
    done: false,
    blocked: found?.blocked ?? false,
    probe: false,
    // The alerts that were found may fill a message.
    alerts: found ? MAX_ALERTS : 1,
    queuedAt: now,
    search: NO_SEARCH,
    waitsFor: null,
  };
}
