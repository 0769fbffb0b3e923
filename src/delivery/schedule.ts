import type { AlertTarget } from '../domain/alert.ts';
import type { SendingPause } from '../domain/sender.ts';
import { NO_SEARCH, type Search, widened } from './outcome.ts';

/** A channel's first new alert waits for others of its transaction: a swap then needs one message and no edit. */
export const GATHER_MS = 500;

/** Times are elapsed milliseconds. */
const newChannel = (id: string, lastTurn: number) => ({
  id,
  /** null: unknown. */
  guildId: null as string | null,
  lastTurn,
  loaded: false,
  dueAt: 0,
  /** Wall clock; as stored for its next attempt, as far as is known. */
  storedDueAt: 0,
  /** Nothing is due before, unless something new arrives. */
  sleepUntil: 0,
  /** Alerts gather until then; null: none arrived since its last turn. */
  gatherUntil: null as number | null,
  /** No sent message is edited before, except to append alerts: Discord limits edits separately. */
  editsDueAt: 0,
  busy: false,
  /** Something new arrived while it was busy. */
  dirty: false,
  done: false,
  blocked: false,
  /** It is tried for its guild: if the bot can post in it, the guild's other blocked channels are tried, too. */
  probe: false,
  search: NO_SEARCH,
  /** Why it sends nothing before `dueAt` or `sleepUntil`; null: nothing is due. */
  waitsFor: null as 'rate' | 'retry' | 'burst' | null,
});

type Entry = ReturnType<typeof newChannel>;
/** Only the schedule changes it. */
export type Channel = Readonly<Entry>;

/** Guilds take turns, and in each its channels. Time is always an argument; nothing is read, sent or stored. */
export function createSchedule() {
  const channels = new Map<string, Entry>();
  /** The number of each guild's latest turn; the channels of unknown guilds take turns together. */
  const guildTurns = new Map<string | null, number>();
  let turns = 0;

  const get = (id: string): Entry => channels.get(id)!;
  const set = (id: string, changed: Partial<Entry>): void => void Object.assign(get(id), changed);
  const ofGuild = (guildId: string): Entry[] => [...channels.values()].filter((one) => one.guildId === guildId);

  function precedes(one: Entry, other: Entry): boolean {
    if (one.guildId === other.guildId) return one.lastTurn < other.lastTurn;
    return (guildTurns.get(one.guildId) ?? 0) < (guildTurns.get(other.guildId) ?? 0);
  }

  function known(id: string, guildId: string | null): Entry {
    // A new channel takes its turn after those that wait.
    const channel = channels.get(id) ?? newChannel(id, turns);
    channels.set(id, channel);
    channel.guildId = guildId ?? channel.guildId;
    return channel;
  }

  return {
    get: (id: string): Channel => get(id),
    add({ channelId, guildId }: AlertTarget, now: number): void {
      const channel = known(channelId, guildId ?? null);
      channel.dirty = true;
      channel.sleepUntil = 0;
      channel.gatherUntil ??= now + GATHER_MS;
    },
    addFound(
      id: string,
      guildId: string,
      found: Pick<Channel, 'dueAt' | 'storedDueAt' | 'sleepUntil' | 'blocked'>,
    ): void {
      const isNew = !channels.has(id);
      const channel = known(id, guildId);
      if (isNew) {
        set(id, { ...found, loaded: true });
        return;
      }
      const { dueAt, storedDueAt, sleepUntil, blocked } = found;
      channel.dirty = true;
      channel.sleepUntil = Math.min(channel.sleepUntil, sleepUntil);
      // Another process brought the next attempt forward: the operator put a dead letter back there.
      if (!channel.busy && channel.blocked && blocked && storedDueAt < channel.storedDueAt)
        set(id, { dueAt: Math.min(channel.dueAt, dueAt), storedDueAt });
    },
    /** The next channel, or for how many milliseconds nothing is due. */
    next(now: number, guildWait: (guildId: string | null) => number): Channel | number {
      let first: Entry | null = null;
      let waitMs = Number.POSITIVE_INFINITY;
      for (const channel of channels.values()) {
        if (channel.busy) continue;
        const { guildId, dueAt, sleepUntil, gatherUntil } = channel;
        const wait = Math.max(guildWait(guildId), Math.max(dueAt, sleepUntil, gatherUntil ?? 0) - now);
        if (wait > 0) waitMs = Math.min(waitMs, wait);
        else if (first === null || precedes(channel, first)) first = channel;
      }
      return first ?? waitMs;
    },
    begin(id: string): void {
      turns++;
      guildTurns.set(get(id).guildId, turns);
      set(id, { lastTurn: turns, busy: true, dirty: false, done: false, gatherUntil: null });
    },
    end(id: string): void {
      const channel = get(id);
      channel.busy = false;
      if (channel.done && !channel.dirty) channels.delete(id);
    },
    setLoaded: (id: string, head: Pick<Channel, 'guildId' | 'dueAt' | 'storedDueAt' | 'blocked'>): void =>
      set(id, { ...head, loaded: true }),
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
