import type { AlertTarget } from '../domain/alert.ts';
import type { SendingPause } from '../domain/sender.ts';
import { NO_SEARCH, type Search, widened } from './outcome.ts';

/** A channel's first new alert waits for others of its transaction: a swap then needs one message and no edit. */
export const GATHER_MS = 500;

/** Only the schedule changes it. Times are elapsed milliseconds. */
export interface Channel {
  readonly id: string;
  /** null: unknown. */
  readonly guildId: string | null;
  readonly loaded: boolean;
  readonly dueAt: number;
  /** Wall clock; as stored for its next attempt, as far as is known. */
  readonly storedDueAt: number;
  /** Nothing is due before, unless something new arrives. */
  readonly sleepUntil: number;
  /** Alerts gather until then; null: none arrived since its last turn. */
  readonly gatherUntil: number | null;
  /** No sent message is edited before, except to append alerts: Discord limits edits separately. */
  readonly editsDueAt: number;
  readonly busy: boolean;
  /** Something new arrived while it was busy. */
  readonly dirty: boolean;
  readonly done: boolean;
  readonly blocked: boolean;
  /** It is tried for its guild: if the bot can post in it, the guild's other blocked channels are tried, too. */
  readonly probe: boolean;
  readonly search: Search;
  /** Why it sends nothing before `dueAt` or `sleepUntil`; null: nothing is due. */
  readonly waitsFor: 'rate' | 'retry' | 'burst' | null;
}

/** Waits are milliseconds from now. */
export interface FoundChannel extends Pick<Channel, 'storedDueAt' | 'blocked'> {
  id: string;
  guildId: string;
  dueIn: number;
  sleepFor: number;
}

type Entry = { -readonly [Key in keyof Channel]: Channel[Key] };

/** Guilds take turns, and in each its channels. Time is always an argument; nothing is read, sent or stored. */
export function createSchedule() {
  const channels = new Map<string, Entry>();
  /** The same channels by guild, both in the order of their turns; those of unknown guilds are together. */
  const guilds = new Map<string | null, Map<string, Entry>>();

  const get = (id: string): Entry => channels.get(id)!;
  const set = (id: string, changed: Partial<Entry>): void => void Object.assign(get(id), changed);
  const ofGuild = (guildId: string | null): Entry[] => [...(guilds.get(guildId)?.values() ?? [])];

  function place(channel: Entry, guildId: string | null): void {
    channel.guildId = guildId;
    const others = guilds.get(guildId);
    if (others) others.set(channel.id, channel);
    else guilds.set(guildId, new Map([[channel.id, channel]]));
  }

  function takeOut({ id, guildId }: Entry): void {
    const others = guilds.get(guildId);
    others?.delete(id);
    if (others?.size === 0) guilds.delete(guildId);
  }

  function move(channel: Entry, guildId: string): void {
    if (channel.guildId === guildId) return;
    takeOut(channel);
    place(channel, guildId);
  }

  function known(id: string, guildId: string | null): Entry {
    const channel = channels.get(id);
    if (channel) {
      if (guildId !== null) move(channel, guildId);
      return channel;
    }
    const added = newChannel(id);
    channels.set(id, added);
    place(added, guildId);
    return added;
  }

  return {
    get: (id: string): Channel => get(id),
    add({ channelId, guildId }: AlertTarget, now: number): void {
      const channel = known(channelId, guildId ?? null);
      channel.dirty = true;
      channel.sleepUntil = 0;
      channel.gatherUntil ??= now + GATHER_MS;
    },
    addFound({ id, guildId, storedDueAt, blocked, dueIn, sleepFor }: FoundChannel, now: number): void {
      const isNew = !channels.has(id);
      const channel = known(id, guildId);
      if (isNew) {
        set(id, { loaded: true, dueAt: now + dueIn, storedDueAt, sleepUntil: now + sleepFor, blocked });
        return;
      }
      channel.dirty = true;
      channel.sleepUntil = Math.min(channel.sleepUntil, now + sleepFor);
      // Another process brought the next attempt forward: the operator put a dead letter back there.
      if (!channel.busy && channel.blocked && blocked && storedDueAt < channel.storedDueAt)
        set(id, { dueAt: Math.min(channel.dueAt, now + dueIn), storedDueAt });
    },
    /** The next channel, or for how many milliseconds nothing is due. */
    next(now: number, guildWait: (guildId: string | null) => number): Channel | number {
      let waitMs = Number.POSITIVE_INFINITY;
      for (const [guildId, members] of guilds) {
        const pause = guildWait(guildId);
        for (const channel of members.values()) {
          if (channel.busy) continue;
          const { dueAt, sleepUntil, gatherUntil } = channel;
          const wait = Math.max(pause, Math.max(dueAt, sleepUntil, gatherUntil ?? 0) - now);
          if (wait <= 0) return channel;
          waitMs = Math.min(waitMs, wait);
        }
      }
      return waitMs;
    },
    begin(id: string): void {
      const channel = get(id);
      const { guildId } = channel;
      const others = guilds.get(guildId)!;
      others.delete(id);
      others.set(id, channel);
      guilds.delete(guildId);
      guilds.set(guildId, others);
      set(id, { busy: true, dirty: false, done: false, gatherUntil: null });
    },
    end(id: string): void {
      const channel = get(id);
      channel.busy = false;
      if (!channel.done || channel.dirty) return;
      takeOut(channel);
      channels.delete(id);
    },
    setLoaded(
      id: string,
      { guildId, ...head }: Pick<Entry, 'dueAt' | 'storedDueAt' | 'blocked'> & { guildId: string },
    ) {
      move(get(id), guildId);
      set(id, { ...head, loaded: true });
    },
    recordSent(id: string, more: boolean): void {
      const search = widened(get(id).search);
      set(id, { dueAt: 0, waitsFor: null, blocked: false, probe: false, search, done: !more });
    },
    /**
     * `until` null: nothing is due at all; `edit`: except an edit that waits for its time; `burst`: alerts are
     * collected for a digest.
     */
    sleep(id: string, { until, edit, burst }: { until: number | null; edit: boolean; burst: boolean }): void {
      const channel = get(id);
      channel.waitsFor = burst ? 'burst' : null;
      if (channel.dirty) return;
      const times = [...(until === null ? [] : [until]), ...(edit ? [channel.editsDueAt] : [])];
      if (times.length === 0) channel.done = true;
      else channel.sleepUntil = Math.min(...times);
    },
    setSearch: (id: string, search: Search | null): void => set(id, { search: search ?? NO_SEARCH }),
    postpone(id: string, until: number, waitsFor: 'rate' | 'retry'): void {
      if (until > get(id).dueAt) set(id, { dueAt: until, waitsFor });
    },
    postponeEdits: (id: string, editsDueAt: number): void => set(id, { editsDueAt }),
    block: (id: string, dueAt: number, storedDueAt: number): void =>
      set(id, { blocked: true, probe: false, dueAt, storedDueAt }),
    retryBlocked(guildId: string): void {
      for (const channel of ofGuild(guildId)) if (channel.blocked) channel.dueAt = 0;
    },
    /**
     * Tries one blocked channel for its guild at that time at the latest: the one named, otherwise the planned one.
     * Returns whether that is new; null: no channel is blocked.
     */
    probe(guildId: string, channelId: string | undefined, probeAt: number): boolean | null {
      const blocked = ofGuild(guildId).filter((channel) => channel.blocked && !channel.busy);
      const planned = blocked.find((channel) => channel.probe);
      const probe = blocked.find(({ id }) => id === channelId) ?? planned ?? blocked[0];
      if (!probe) return null;
      if (probe.probe && probe.dueAt <= probeAt) return false;
      set(probe.id, { probe: true, dueAt: Math.min(probe.dueAt, probeAt) });
      return true;
    },
    pauses: (guildId: string, now: number): (Pick<SendingPause, 'channelId' | 'reason'> & { waitMs: number })[] =>
      ofGuild(guildId).flatMap(({ id, blocked, waitsFor, dueAt, sleepUntil }) => {
        const waitMs = Math.max(dueAt, sleepUntil) - now;
        return blocked || waitsFor === null || waitMs <= 0 ? [] : [{ channelId: id, reason: waitsFor, waitMs }];
      }),
  };
}

const newChannel = (id: string): Entry => ({
  id,
  guildId: null,
  loaded: false,
  dueAt: 0,
  storedDueAt: 0,
  sleepUntil: 0,
  gatherUntil: null,
  editsDueAt: 0,
  busy: false,
  dirty: false,
  done: false,
  blocked: false,
  probe: false,
  search: NO_SEARCH,
  waitsFor: null,
});
