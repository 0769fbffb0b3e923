import type { AlertTarget } from '../domain/alert.ts';
import { inTime } from '../domain/clock.ts';
import { createSettler, SET_ASIDE_MS, type SettlerOptions } from './apply-outcome.ts';
import { type AttemptOptions, createAttempts, isChange } from './attempt.ts';
import { BATCH } from './compose.ts';
import { createGuilds } from './membership.ts';
import { createPace, type Turn } from './rate-limit.ts';
import { type Channel, createTurns } from './scheduler.ts';

/** Requests under way at once. */
const MAX_IN_FLIGHT = 40;
/** Pause after a failed call to the database. */
const STORE_PAUSE_MS = 1_000;

/** What the deliverer needs. */
export interface DelivererOptions extends AttemptOptions, Pick<SettlerOptions, 'renderParked'> {
  random?: () => number;
}

/** Brings alerts to Discord: one message in flight per channel, first in first out, channels in turn. */
export function startDeliverer(options: DelivererOptions) {
  const { store, clock, log, renderParked, random = Math.random } = options;
  const pace = createPace(clock);
  const turns = createTurns();
  const underWay = new Set<Promise<void>>();
  let cancelTimer: (() => void) | null = null;
  let cancelLook = () => {};
  let closing = false;
  let looked = clock.now();

  const guilds = createGuilds({
    store,
    clock,
    log,
    isClosing: () => closing,
    retry(guildIds) {
      for (const guildId of guildIds) turns.guildChanged(guildId);
      pump();
    },
  });
  const attempt = createAttempts(options);
  const settle = createSettler({
    store,
    clock,
    pace,
    random,
    renderParked,
    isRemoved: guilds.isRemoved,
    nudge: (channelId) => turns.came([channelId], 0, clock.now()),
    finished: (channel) => {
      // If something new came while it was busy, it has more.
      if (!channel.again) turns.remove(channel);
    },
  });

  function pump(): void {
    cancelTimer?.();
    cancelTimer = null;
    if (closing) return;
    const now = clock.now();
    if (now < looked) turns.setBack(looked - now);
    looked = now;
    while (underWay.size < MAX_IN_FLIGHT) {
      const { channel, wait } = turns.next(now);
      if (!channel) {
        if (wait < Number.POSITIVE_INFINITY) cancelTimer = clock.after(wait, pump);
        return;
      }
      const turn = pace.take(turns.leaving(channel, now));
      if (typeof turn === 'number') {
        cancelTimer = clock.after(turn, pump);
        return;
      }
      begin(channel, turn);
    }
  }

  function begin(channel: Channel, turn: Turn): void {
    turns.begin(channel);
    const work: Promise<void> = serve(channel, turn)
      .catch((error: unknown) => {
        channel.dueAt = clock.now() + STORE_PAUSE_MS;
        if (!closing) log.error({ err: error, channel: channel.id }, 'delivery paused');
      })
      .finally(() => {
        turn.end();
        channel.busy = false;
        channel.since = clock.now();
        underWay.delete(work);
        pump();
      });
    underWay.add(work);
  }

  async function serve(channel: Channel, turn: Turn): Promise<void> {
    const now = clock.now();
    const take = {
      limit: channel.limit,
      alone: channel.limit < BATCH,
      mayChange: turns.mayChange(channel, now),
    };
    const { head, next } = await store.outbox.claim(channel.id, take, now);
    if (next.status === 'nothing') {
      if (!channel.again) turns.rest(channel, next, now);
      return;
    }
    if (next.status === 'batch' && isChange(next.batch)) channel.isChangesTurn = false;
    channel.lines += next.status === 'lines' ? next.waiting : 1;
    if (!channel.isMet && head) {
      // What is known about the channel may be newer than the bot's removal.
      const isRemoved = head.state === 'ready' && guilds.isRemoved(head.guildId);
      if (isRemoved) guilds.removed(head.guildId);
      turns.meet(channel, isRemoved ? { ...head, state: 'paused', dueAt: now + SET_ASIDE_MS } : head);
      if (channel.dueAt > clock.now()) return;
    }
    const done = await attempt(channel, next, turn);
    if (!done) return;
    turn.end();
    const { batch, outcome } = done;
    if (outcome.status === 'sent') guilds.confirm(channel.guildId);
    channel.lines = Math.max(0, channel.lines - batch.lines);
    await settle(channel, head, batch, outcome);
    log[outcome.status === 'sent' ? 'info' : 'warn'](
      { channel: channel.id, batch: batch.id, kind: batch.kind, lines: batch.lines, attempt: batch.attempts, outcome },
      'delivery',
    );
  }

  async function load(): Promise<void> {
    if (closing) return;
    try {
      await store.outbox.endLongHolds(clock.now());
      for (const { channelId, guildId, dueAt, sleepUntil, state } of await store.outbox.channelsWithWork())
        turns.found({ channelId, guildId, dueAt, sleepUntil, aside: state !== 'ready' }, clock.now());
      pump();
    } catch (error) {
      if (closing) return;
      log.error({ err: error }, 'delivery paused');
      // Each look that fails would else begin a row of looks of its own.
      cancelLook();
      cancelLook = clock.after(STORE_PAUSE_MS, () => void load());
    }
  }
  const loaded = load();

  /** These channels have something new, named once for each alert, after so many events. */
  function nudge(channelIds: string[], events = 0): void {
    turns.came(channelIds, events, clock.now());
    pump();
  }

  return {
    /** Settles once what an earlier process left is known. */
    loaded,
    /** Looks for what waits without having been nudged for. */
    look: load,
    nudge,
    /** So many events gave these new lines; a guild with very many channels is known by their first ones already. */
    lines(lines: readonly AlertTarget[], events: number): void {
      turns.know(lines);
      nudge(
        lines.map(({ channelId }) => channelId),
        events,
      );
    },
    guildRemoved: guilds.removed,
    guildChanged: guilds.changed,
    guildsAre: guilds.are,
    guildUsed: guilds.used,
    state: pace.state,
    /** The gateway's token, which is this one's, was taken or refused. */
    token: pace.token,
    /** Settles once nothing is under way. */
    async idle(): Promise<void> {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
    /** Lets what is under way finish, for five seconds at most; the rest is frozen on disk. */
    async close(): Promise<void> {
      closing = true;
      cancelTimer?.();
      await inTime(Promise.allSettled(underWay), 5_000, clock);
    },
  };
}
