import { MAX_ALERTS } from '../domain/batch.ts';
import { NO_SEARCH, type Search } from './bisect.ts';
import type { Waiting } from './priority.ts';

/** A channel that has something to send, now or later. Only the scheduler changes it. */
export interface Channel extends Waiting {
  readonly id: string;
  /** Its stored state is known. */
  readonly loaded: boolean;
  /** No request is made before. */
  readonly dueAt: number;
  /** The same as the store says it, as far as is known. */
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
  readonly parked: boolean;
  /** It is tried for all parked channels of its guild: when it can be written to, the others are tried too. */
  readonly probe: boolean;
  readonly search: Search;
  /** Why it sends nothing before `dueAt` or `sleepUntil`; null: nothing is due. */
  readonly waitsFor: 'rate' | 'retry' | 'burst' | null;
}

/** What the store knows about a channel with alerts. */
export interface FoundChannel extends Pick<Channel, 'dueAt' | 'sleepUntil' | 'parked'> {
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
  return {
    all: (): Iterable<Channel> => channels.values(),
    ofGuild: (guildId: string): Channel[] =>
      channels
        .values()
        .filter((one) => one.guildId === guildId)
        .toArray(),
    find: (id: string): Channel | undefined => channels.get(id),
    /** A channel that is in the table. */
    get: (id: string): Channel => channels.get(id)!,
    setGuild: (id: string, guildId: string): void => void guildOf.set(id, guildId),
    /** A channel has one more alert, or it was `found` to have some. */
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
      if (!known.busy && known.parked && found?.parked && found.dueAt < known.storedDueAt)
        Object.assign(known, { dueAt: Math.min(known.dueAt, found.dueAt), storedDueAt: found.dueAt });
    },
    /** Changes a channel, unless it was forgotten. */
    change(id: string, changed: Partial<Entry>): void {
      Object.assign(channels.get(id) ?? {}, changed);
    },
    /** Tries a guild's parked channels at once, within its budget. */
    retryParked(guildId: string): void {
      for (const channel of channels.values()) if (channel.guildId === guildId && channel.parked) channel.dueAt = 0;
    },
    moveToBack(id: string): Channel {
      const channel = channels.get(id)!;
      channels.delete(id);
      channels.set(id, channel);
      return channel;
    },
    forget: (id: string): void => void channels.delete(id),
    /** The clock was set back: shortens waits by that amount. */
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
    parked: found?.parked ?? false,
    probe: false,
    // The alerts that were found may fill a message.
    alerts: found ? MAX_ALERTS : 1,
    queuedAt: now,
    search: NO_SEARCH,
    waitsFor: null,
  };
}
