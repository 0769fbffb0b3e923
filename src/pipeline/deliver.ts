import type { Logger } from 'pino';
import type { Outcome, Sender } from '../discord/sender.ts';
import type { Clock } from '../domain/clock.ts';
import { newReference, nonceOf } from '../domain/reference.ts';
import { StoreError } from '../errors.ts';
import type { ClaimedAlert } from '../store/alerts.ts';
import type { Batch, Next, Original } from '../store/outbox.ts';
import type { Store } from '../store/tables.ts';
import { BATCH, compose, composeJoined, type Renderers } from './compose.ts';
import { createPace, type Turn } from './pace.ts';
import { type Attempted, createSettler, type SettlerOptions } from './settle.ts';
import { type Channel, createTurns } from './turns.ts';

/** Requests under way at once. */
const MAX_IN_FLIGHT = 40;
/** Discord forgets a nonce after a few minutes; from then on a repeat looks for its message first. */
const NONCE_MS = 2 * 60_000;
/** Pause after a failed call to the database. */
const STORE_PAUSE_MS = 1_000;

/** What the deliverer needs. */
export interface DelivererOptions extends Renderers, Pick<SettlerOptions, 'renderParked'> {
  store: Store;
  sender: Sender;
  clock: Clock;
  log: Logger;
  random?: () => number;
}

interface Sent {
  batch: Attempted;
  outcome: Outcome;
}

/** Brings alerts to Discord: one message in flight per channel, first in first out, channels in turn. */
export function startDeliverer(options: DelivererOptions) {
  const { store, sender, clock, log, render, renderParked, random = Math.random } = options;
  const pace = createPace(clock);
  const turns = createTurns();
  const removedGuilds = new Set<string>();
  const underWay = new Set<Promise<void>>();
  let cancelTimer: (() => void) | null = null;
  let closing = false;
  let looked = clock.now();

  const settle = createSettler({
    store,
    clock,
    pace,
    random,
    renderParked,
    isRemoved: (guildId) => removedGuilds.has(guildId ?? ''),
    nudge: (channelId) => turns.came([channelId], 0, clock.now()),
    finished: (channel) => {
      // What came meanwhile said so.
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
    const take = { limit: channel.limit, alone: channel.limit < BATCH, changesAt: channel.changesAt };
    const { head, next } = await store.outbox.claim(channel.id, take, clock.now());
    if (next.status === 'nothing') {
      if (!channel.again) {
        if (next.until === null) turns.remove(channel);
        else channel.sleepUntil = next.until;
      }
      return;
    }
    channel.lines += next.status === 'lines' ? next.waiting : 1;
    if (channel.guildId === null && head) {
      // First met by a nudge: what is known about the channel counts.
      channel.guildId = head.guildId;
      channel.dueAt = head.dueAt;
      channel.aside = head.state !== 'ready';
      if (head.dueAt > clock.now()) return;
    }
    const done =
      next.status === 'batch'
        ? await repeat(next, turn)
        : await sendNew(channel, next, turn).catch((error: unknown) => unrenderable(channel, next.alerts[0]!, error));
    // What it told changed meanwhile: it is claimed anew.
    if (!done) return;
    turn.end();
    const { batch, outcome } = done;
    channel.lines = Math.max(0, channel.lines - batch.lines);
    await settle(channel, head, batch, outcome);
    log[outcome.status === 'sent' ? 'info' : 'warn'](
      { channel: channel.id, batch: batch.id, kind: batch.kind, lines: batch.lines, attempt: batch.attempts, outcome },
      'delivery',
    );
  }

  async function sendNew(
    channel: Channel,
    lines: Extract<Next, { status: 'lines' }>,
    turn: Turn,
  ): Promise<Sent | null> {
    const now = clock.now();
    const first = { attempts: 1, frozenAt: now, certain: true, isChange: false };
    const { join } = lines;
    const joined = join && !channel.plain ? composeJoined(join, lines.alerts, render, now) : null;
    if (join && joined) {
      const { body, alerts } = joined;
      const id = await store.outbox.join(channel.id, join, alerts, JSON.stringify(body), now);
      if (id === null) return null;
      turn.send();
      const outcome = await sender.edit(channel.id, join.messageId, body);
      return { batch: { id, kind: 'edit', ...first, lines: alerts.length }, outcome };
    }
    const { body, ...message } = await compose(channel, lines, { renderers: options, store, now });
    const id = await store.outbox.freeze(message, now);
    if (id === null) return null;
    turn.send();
    const outcome = await sender.create(channel.id, body, message.nonce, message.attachment);
    const { kind, alerts } = message;
    return { batch: { id, kind, ...first, lines: alerts.length }, outcome };
  }

  /** A line that cannot be rendered is searched for as one is that Discord refuses; it must not hold the others. */
  async function unrenderable(channel: Channel, alert: ClaimedAlert, error: unknown): Promise<null> {
    if (error instanceof StoreError) throw error;
    log.error({ err: error, channel: channel.id, alert: alert.id }, 'lines cannot be rendered');
    if (channel.limit > 1) {
      channel.limit = Math.min(Math.ceil(channel.limit / 2), BATCH / 2);
    } else if (!channel.plain) {
      channel.plain = true;
    } else {
      channel.plain = false;
      channel.limit = BATCH;
      const [now, reference] = [clock.now(), newReference()];
      const empty = { channelId: channel.id, kind: 'create' as const, reason: null, payload: '{}', attachment: null };
      const nothing = { ...empty, reference, nonce: nonceOf(reference, now), alerts: [alert], mentioning: [] };
      const id = await store.outbox.freeze(nothing, now);
      if (id !== null) await store.outbox.dead(id, `It cannot be rendered: ${(error as Error).message}`, now);
    }
    return null;
  }

  async function repeat({ batch, original, lines }: Extract<Next, { status: 'batch' }>, turn: Turn): Promise<Sent> {
    const now = clock.now();
    // Only an attempt that is the first one of which Discord may know can be undone by its answer.
    const isChange = batch.kind === 'edit' && batch.payload === '';
    const done = { ...batch, attempts: batch.attempts + 1, lines, certain: !batch.unsure, isChange };
    if (batch.kind === 'edit') {
      turn.send();
      return { batch: done, outcome: await change(batch, original) };
    }
    let blind = false;
    if (batch.unsure && batch.firstSentAt !== null && Math.abs(now - batch.firstSentAt) > NONCE_MS) {
      const searched = { ...done, certain: false };
      const found = await sender.find(batch.channelId, batch.reference, batch.firstSentAt, turn.send);
      if (found.status === 'found') return { batch: searched, outcome: { status: 'sent', messageId: found.messageId } };
      // A search that failed says nothing: the message stays as unsure as it was.
      if (found.status !== 'absent' && found.status !== 'unknown') return { batch: searched, outcome: found };
      blind = found.status === 'unknown';
      if (blind) log.warn({ channel: batch.channelId, batch: batch.id }, 'repeated without a look at the history');
    }
    await store.outbox.attempt(batch.id, now);
    const body = JSON.parse(batch.payload) as object;
    turn.send();
    return {
      batch: { ...done, blind },
      outcome: await sender.create(batch.channelId, body, batch.nonce, batch.attachment),
    };
  }

  /** Changes a sent message; one that never came to be, or some of which is forgotten, stays as it is. */
  async function change(batch: Batch, original: Original | null): Promise<Outcome> {
    const messageId = original?.messageId;
    if (!messageId || original.alerts.length === 0) return { status: 'sent', messageId: null };
    if (batch.payload !== '') return sender.edit(batch.channelId, messageId, JSON.parse(batch.payload) as object);
    const anew = await renderedAnew(original, batch.reference);
    if (!anew) return { status: 'refused', reason: 'The message has no room for what is known now.' };
    return sender.edit(batch.channelId, messageId, anew.payload, anew.csv);
  }

  /** What cannot be rendered any more, or no longer as a whole, stays as it was told: null. */
  async function renderedAnew({ alerts, reason, plain }: Original, reference: string) {
    try {
      if (reason !== null) return await options.renderDigest(alerts, reference, reason, null);
      if (plain) return { payload: options.renderPlain(alerts[0]!, reference), csv: null };
      const { payload, used } = render(alerts, reference, null);
      return used < alerts.length ? null : { payload, csv: null };
    } catch (error) {
      log.error({ err: error, alert: alerts[0]!.id }, 'lines cannot be rendered');
      return null;
    }
  }

  async function load(): Promise<void> {
    if (closing) return;
    try {
      await store.outbox.believe(clock.now());
      for (const { channelId, guildId, dueAt, state } of await store.outbox.heads())
        turns.found({ channelId, guildId, dueAt, aside: state !== 'ready' }, clock.now());
      pump();
    } catch (error) {
      if (closing) return;
      log.error({ err: error }, 'delivery paused');
      clock.after(STORE_PAUSE_MS, () => void load());
    }
  }
  const loaded = load();

  /** For a later process; this one knows, and Discord's answers tell too. */
  function note(writing: Promise<void>, guildId: string): void {
    writing.catch((error: unknown) => {
      if (!closing) log.warn({ err: error, guild: guildId }, 'it could not be noted whether the bot is in a server');
    });
  }

  return {
    /** Settles once what an earlier process left is known. */
    loaded,
    /** Looks for what waits without having been nudged for. */
    look: load,
    /** These channels have something new, named once for each alert, after so many events. */
    nudge(channelIds: string[], events = 0): void {
      turns.came(channelIds, events, clock.now());
      pump();
    },
    /** Permissions or channels of a guild changed: what was set aside there, and nothing else, is tried at once. */
    guildChanged(guildId: string): void {
      removedGuilds.delete(guildId);
      note(store.outbox.resumeGuild(guildId), guildId);
      turns.guildChanged(guildId);
      pump();
    },
    /** The bot was removed from a guild. */
    guildRemoved(guildId: string): void {
      removedGuilds.add(guildId);
      note(store.outbox.pauseGuild(guildId, clock.now()), guildId);
    },
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
      const patience = new Promise<void>((resolve) => void clock.after(5_000, resolve));
      await Promise.race([Promise.allSettled(underWay), patience]);
    },
  };
}
