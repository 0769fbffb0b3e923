import type { AlertTarget } from '../domain/alert.ts';
import type { SendingPause } from '../domain/sender.ts';
import { NO_SEARCH } from './outcome.ts';

/** A channel's first new alert waits for others of its transaction: a swap then needs one message and no edit. */
export const GATHER_MS = 500;
export const NEVER = Number.POSITIVE_INFINITY;

/** Times are elapsed milliseconds. */
const NEW_CHANNEL = {
  busy: false,
  /** Something may be due then; of a busy channel, only what is new. */
  wakeAt: NEVER,
  /** Discord asked to wait, or an attempt failed: whatever is new waits, too. */
  retryAt: 0,
  /** Why it waits until `retryAt`; `burst`: until `wakeAt`. */
  waitsFor: 'retry' as 'rate' | 'retry' | 'burst',
  /** No sent message is edited before, except to append alerts: Discord limits edits separately. */
  editsDueAt: 0,
  blocked: false,
  search: NO_SEARCH,
};

type Entry = typeof NEW_CHANNEL & { id: string; guildId: string; lastTurn: number };
/** Only the schedule changes it. */
export type Channel = Readonly<Entry>;

/** Guilds take turns, and in each its channels. Time is always an argument; nothing is read, sent or stored. */
export function createSchedule() {
  const channels = new Map<string, Entry>();
  /** The number of each guild's latest turn. */
  const guildTurns = new Map<string, number>();
  let turns = 0;

  const ofGuild = (guildId: string): Entry[] => [...channels.values()].filter((channel) => channel.guildId === guildId);

  function precedes(a: Entry, b: Entry): boolean {
    if (a.guildId === b.guildId) return a.lastTurn < b.lastTurn;
    return (guildTurns.get(a.guildId) ?? 0) < (guildTurns.get(b.guildId) ?? 0);
  }

  function add({ channelId: id, guildId }: AlertTarget, now: number, delayMs = GATHER_MS): void {
    // A new channel takes its turn after those that wait.
    const channel = channels.get(id) ?? { ...NEW_CHANNEL, id, guildId, lastTurn: turns };
    channels.set(id, channel);
    channel.wakeAt = Math.min(channel.wakeAt, now + delayMs);
  }

  function update(
    id: string,
    changes: Partial<Pick<Channel, 'retryAt' | 'waitsFor' | 'editsDueAt' | 'blocked' | 'search'>>,
  ): void {
    Object.assign(channels.get(id)!, changes);
  }

  return {
    add,
    update,
    /** Adds a channel with stored alerts, maybe of another process. `retryAt` null: the channel is not blocked. */
    addFound(target: AlertTarget, wakeAt: number, retryAt: number | null): void {
      const known = channels.get(target.channelId);
      add(target, wakeAt, 0);
      if (retryAt === null || known?.busy) return;
      if (!known) update(target.channelId, { blocked: true, retryAt });
      // The operator put a dead letter back there.
      else if (known.blocked) known.retryAt = Math.min(known.retryAt, retryAt);
    },
    /** The next channel, or for how many milliseconds nothing is due. */
    next(now: number, guildWait: (guildId: string) => number): Channel | number {
      let first: Entry | null = null;
      let waitMs = NEVER;
      for (const channel of channels.values()) {
        if (channel.busy) continue;
        const { guildId, retryAt, wakeAt } = channel;
        const wait = Math.max(guildWait(guildId), Math.max(retryAt, wakeAt) - now);
        if (wait > 0) waitMs = Math.min(waitMs, wait);
        else if (first === null || precedes(channel, first)) first = channel;
      }
      return first ?? waitMs;
    },
    begin(id: string): void {
      turns++;
      const channel = channels.get(id)!;
      guildTurns.set(channel.guildId, turns);
      Object.assign(channel, { lastTurn: turns, busy: true, wakeAt: NEVER });
    },
    /** `wakeAt`: when something is due as far as the turn knows. */
    end(id: string, wakeAt: number): void {
      const channel = channels.get(id)!;
      channel.busy = false;
      if (channel.wakeAt === NEVER) channel.wakeAt = wakeAt;
      if (channel.wakeAt === NEVER) channels.delete(id);
    },
    postpone(id: string, retryAt: number, waitsFor: 'rate' | 'retry'): void {
      if (retryAt > channels.get(id)!.retryAt) update(id, { retryAt, waitsFor });
    },
    retryBlocked(guildId: string): void {
      for (const channel of ofGuild(guildId)) if (channel.blocked) channel.retryAt = 0;
    },
    /** Tries one blocked channel for its guild at that time at the latest: the one named, otherwise the next one. */
    probe(guildId: string, channelId: string | undefined, retryAt: number): void {
      const blocked = ofGuild(guildId).filter((channel) => channel.blocked && !channel.busy);
      const [next] = blocked.sort((a, b) => a.retryAt - b.retryAt);
      const probe = blocked.find(({ id }) => id === channelId) ?? next;
      if (probe) probe.retryAt = Math.min(probe.retryAt, retryAt);
    },
    /** Of channels that send later. */
    pauses: (guildId: string, now: number): SendingPause[] =>
      ofGuild(guildId).flatMap(({ id, blocked, waitsFor, retryAt, wakeAt }) => {
        const until = waitsFor === 'burst' ? wakeAt : retryAt;
        return blocked || until <= now || until === NEVER ? [] : [{ channelId: id, reason: waitsFor, until }];
      }),
  };
}
