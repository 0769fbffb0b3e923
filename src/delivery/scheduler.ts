import type { AlertTarget } from '../domain/alert.ts';
import type { ChannelHead } from '../domain/channel.ts';
import { SECOND } from '../domain/clock.ts';
import { BATCH, type Take } from './compose.ts';
import { type Leaving, PER_SECOND } from './rate-limit.ts';

/** A channel that waited for so long comes before every other that did not. */
const PATIENCE_MS = 5 * SECOND;
/** What happened longer ago hardly counts for how much is coming. */
const MEMORY_MS = 400;
/** When nothing new came for so long, no more is expected. */
const CALM_MS = 100;
/** Of so many latest turns, a guild that had more than its share lets the others go first. */
const LATEST = PER_SECOND;
const FAIR_SHARE = LATEST / 5;
/** Milliseconds between two changes of sent messages: half of the requests are free for lines at any moment. */
const CHANGES_APART = (2 * SECOND) / PER_SECOND;

const NOTHING: Leaving = { apart: 0, places: 0, during: Number.POSITIVE_INFINITY };

/** A channel that has something to be sent, now or later. */
export interface Channel extends Take {
  /** null: not known yet. */
  guildId: string | null;
  /** What the database knows about it counted: it was found there, or claimed once. */
  isMet: boolean;
  /** It may not be tried before. */
  dueAt: number;
  /** No sent message may be changed before, but for one that new lines join: Discord counts changes on their own. */
  changesAt: number;
  /** It has a turn to change one then. */
  isChangesTurn: boolean;
  /** There is nothing to send before; something new ends this. */
  sleepUntil: number;
  busy: boolean;
  /** Parked or paused, as far as is known. */
  aside: boolean;
  /** Nudged while busy. */
  again: boolean;
  /** How many alerts wait, as far as is known. */
  lines: number;
  /** Since when they wait for their turn. */
  since: number;
}

/** The channels that have something to be sent, and whose turn it is. */
export function createTurns() {
  const channels = new Map<string, Channel>();
  /** Channels are forgotten when they have nothing more to be sent, their guilds are not. */
  const guildOf = new Map<string, string>();
  /** The guilds that had the latest turns, and how many each. */
  const latest: string[] = [];
  const had = new Map<string, number>();
  /** How many events a second came lately, at `cameAt`. */
  let coming = 0;
  let cameAt = Number.NEGATIVE_INFINITY;
  /** When the next turn is to change a message. */
  let changesFrom = Number.NEGATIVE_INFINITY;

  function count(guildId: string, change: 1 | -1): void {
    const turns = (had.get(guildId) ?? 0) + change;
    if (turns === 0) had.delete(guildId);
    else had.set(guildId, turns);
  }

  function note(guildId: string): void {
    latest.push(guildId);
    count(guildId, 1);
    if (latest.length > LATEST) count(latest.shift()!, -1);
  }

  const isGreedy = ({ guildId }: Channel): boolean => guildId !== null && (had.get(guildId) ?? 0) > FAIR_SHARE;
  /** More events come than there are requests. */
  const isFlood = (now: number): boolean => coming > PER_SECOND && now - cameAt < CALM_MS;

  /**
   * Where there are more channels than requests, a request should tell much: full messages come first. Of the others the
   * longest, and then the one that was last to come: whatever waits already is likely to meet its channel's next alert.
   * What a guild has in very many channels must not hold up the others' lines: those come before, but for what is not
   * hurried in a flood.
   */
  function comesBefore(a: Channel, b: Channel, now: number): boolean {
    const [urgent, other] = [urgency(a, now), urgency(b, now)];
    const [greedy, otherGreedy] = [isGreedy(a), isGreedy(b)];
    if (greedy !== otherGreedy && (!isFlood(now) || (urgent === other && urgent > 0))) return otherGreedy;
    if (urgent !== other) return urgent > other;
    if (urgent > 0) return a.since < b.since;
    return a.lines === b.lines ? a.since > b.since : a.lines > b.lines;
  }

  /** A channel has one more alert; or it was `found` to have some. */
  function add(id: string, now: number, found: Whereabouts | null): void {
    const known = channels.get(id);
    if (!known) {
      const where = found ?? { guildId: guildOf.get(id) ?? null, dueAt: 0, sleepUntil: 0, aside: false, isMet: false };
      const rest = { changesAt: 0, isChangesTurn: false, busy: false, again: false };
      const lines = found ? BATCH : 1;
      channels.set(id, { id, ...where, lines, since: now, limit: BATCH, plain: false, ...rest });
      return;
    }
    if (known.lines === 0) known.since = now;
    known.lines = found ? Math.max(1, known.lines) : known.lines + 1;
    known.again = true;
    known.sleepUntil = Math.min(known.sleepUntil, found?.sleepUntil ?? 0);
    // An operator's tool put something back there, to be tried at once.
    if (known.aside && found?.aside && found.dueAt === 0) known.dueAt = 0;
  }

  return {
    /** These channels have something new, named once for each alert, after so many events. */
    came(ids: readonly string[], events: number, now: number): void {
      coming = coming * Math.exp(Math.min(0, cameAt - now) / MEMORY_MS) + events * (SECOND / MEMORY_MS);
      cameAt = now;
      for (const id of ids) add(id, now, null);
    },
    /** Of which guilds the channels are that lines are about to come to. */
    know(lines: readonly AlertTarget[]): void {
      for (const { channelId, guildId } of lines) if (guildId !== undefined) guildOf.set(channelId, guildId);
    },
    /** A channel was found to have alerts, not to be told before `sleepUntil`. */
    found(
      { channelId, ...found }: Omit<Whereabouts, 'isMet'> & { channelId: string; guildId: string },
      now: number,
    ): void {
      guildOf.set(channelId, found.guildId);
      add(channelId, now, { ...found, isMet: true });
    },
    /** What the database knows about a channel that a nudge named first. */
    meet(channel: Channel, { guildId, dueAt, state }: Pick<ChannelHead, 'guildId' | 'dueAt' | 'state'>): void {
      if (channel.guildId === null) note(guildId);
      guildOf.set(channel.id, guildId);
      Object.assign(channel, { guildId, dueAt, aside: state !== 'ready', isMet: true });
    },
    remove: ({ id }: Channel): void => void channels.delete(id),
    /** It begins, and goes to the back of the queue. */
    begin(channel: Channel): void {
      channels.delete(channel.id);
      channels.set(channel.id, channel);
      channel.busy = true;
      channel.again = false;
      channel.lines = 0;
      if (channel.guildId !== null) note(channel.guildId);
    },
    /** Whose turn it is, or how long it is until there is one. */
    next(now: number): { channel: Channel | null; wait: number } {
      let channel: Channel | null = null;
      let wait = Number.POSITIVE_INFINITY;
      for (const one of channels.values()) {
        if (one.busy) continue;
        const left = Math.max(one.dueAt, one.sleepUntil) - now;
        if (left > 0) {
          wait = Math.min(wait, left);
          continue;
        }
        if (!channel || comesBefore(one, channel, now)) channel = one;
      }
      return { channel, wait };
    },
    /**
     * What a channel's request leaves to others. While more events come than there are requests, what has little to tell
     * is not hurried: its channel's next alerts then need no request of their own. While even full messages hardly
     * hold what comes, half of the requests are kept for these.
     */
    leaving(channel: Channel, now: number): Leaving {
      if (!isFlood(now) || urgency(channel, now) > 0) return NOTHING;
      const worth = Math.min(BATCH, Math.floor(coming / PER_SECOND));
      const apart = Math.ceil((SECOND / PER_SECOND) * Math.max(1, worth / Math.max(1, channel.lines)));
      return { apart, places: worth < BATCH ? 0 : PER_SECOND / 2, during: cameAt + CALM_MS - now };
    },
    /** Whether one of a channel's messages may be changed now. */
    mayChange: (channel: Channel, now: number): boolean => channel.isChangesTurn && channel.changesAt <= now,
    /** A channel has nothing to do `until` then, or at all, but for a message to `change`: it gets a turn for that. */
    rest(channel: Channel, { until, change }: { until: number | null; change: boolean }, now: number): void {
      if (until === null && !change) return void channels.delete(channel.id);
      const turn = Math.max(now, changesFrom);
      if (change && !channel.isChangesTurn && channel.changesAt <= turn) {
        channel.changesAt = turn;
        channel.isChangesTurn = true;
        changesFrom = turn + CHANGES_APART;
      }
      const never = Number.POSITIVE_INFINITY;
      channel.sleepUntil = Math.min(until ?? never, change ? channel.changesAt : never);
    },
    /** What was set aside in a guild, and nothing else, is tried at once. */
    guildChanged(guildId: string): void {
      for (const channel of channels.values()) if (channel.aside && channel.guildId === guildId) channel.dueAt = 0;
    },
    /** The clock was set back: that must not hold a channel for as long. */
    setBack(ms: number): void {
      cameAt -= ms;
      changesFrom -= ms;
      for (const channel of channels.values()) {
        channel.dueAt -= ms;
        channel.changesAt -= ms;
        channel.sleepUntil -= ms;
        channel.since -= ms;
      }
    },
  };
}

type Whereabouts = Pick<Channel, 'guildId' | 'isMet' | 'dueAt' | 'sleepUntil' | 'aside'>;

function urgency({ since, lines }: Channel, now: number): number {
  if (now - since > PATIENCE_MS) return 2;
  return lines >= BATCH ? 1 : 0;
}
