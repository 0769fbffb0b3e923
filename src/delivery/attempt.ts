import type { Logger } from 'pino';
import type { Alert } from '../domain/alert.ts';
import type { Batch, NextMessage, Original } from '../domain/batch.ts';
import { type Clock, MINUTE } from '../domain/clock.ts';
import { newReference, nonceOf } from '../domain/reference.ts';
import type { Sender, SendOutcome } from '../domain/send-outcome.ts';
import { StoreError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import type { Attempted } from './apply-outcome.ts';
import { BATCH, compose, composeJoined, type Renderers, toldBy } from './compose.ts';
import type { Turn } from './rate-limit.ts';
import type { Channel } from './scheduler.ts';

/** Discord forgets a nonce after a few minutes; from then on a repeat looks for its message first. */
const NONCE_MS = 2 * MINUTE;

/** What an attempt needs. */
export interface AttemptOptions extends Renderers {
  store: Store;
  sender: Sender;
  clock: Clock;
  log: Logger;
}

/** It holds no lines of its own, only makes a sent message say what is known now. */
export const isChange = ({ kind, payload }: Batch): boolean => kind === 'edit' && payload === '';

/** An attempt that was made, and how it ended. */
interface Sent {
  batch: Attempted;
  outcome: SendOutcome;
}

/**
 * Makes the function that attempts to send a channel what is next. It gives null when nothing was sent, because what was
 * to be told has changed meanwhile or cannot be rendered: the channel is then to be claimed anew.
 */
export function createAttempts(options: AttemptOptions) {
  const { store, sender, clock, log } = options;

  async function sendNew(
    channel: Channel,
    lines: Extract<NextMessage, { status: 'lines' }>,
    turn: Turn,
  ): Promise<Sent | null> {
    const now = clock.now();
    const first = { attempts: 1, frozenAt: now, certain: true, isChange: false };
    for (const to of lines.joins) {
      const joined = composeJoined(to, lines.alerts, options.render, now);
      if (!joined) continue;
      const { body, alerts } = joined;
      const id = await store.outbox.join(channel.id, to, alerts, JSON.stringify(body), now);
      if (id === null) return null;
      turn.send();
      const outcome = await sender.edit(channel.id, to.messageId, body);
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

  /**
   * Searches for a line that cannot be rendered as for one that Discord refuses, so that it does not hold the others:
   * fewer lines at a time, then a single one as plain text; if even that fails, it becomes a dead letter.
   */
  async function unrenderable(channel: Channel, alert: Alert, error: unknown): Promise<null> {
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
      if (id !== null) await store.outbox.deadLetter(id, `It cannot be rendered: ${(error as Error).message}`, now);
    }
    return null;
  }

  async function repeat(
    { batch, original, lines }: Extract<NextMessage, { status: 'batch' }>,
    turn: Turn,
  ): Promise<Sent> {
    const now = clock.now();
    // If an earlier attempt may have reached Discord, an answer to this one does not say that the message is not there.
    const done = { ...batch, attempts: batch.attempts + 1, lines, certain: !batch.unsure, isChange: isChange(batch) };
    if (batch.kind === 'edit') {
      turn.send();
      return { batch: done, outcome: await change(batch, original) };
    }
    let blind = false;
    if (batch.unsure && batch.firstSentAt !== null && Math.abs(now - batch.firstSentAt) > NONCE_MS) {
      const found = await sender.find(batch.channelId, batch.reference, batch.firstSentAt, turn.send);
      if (found.status === 'found') return { batch: done, outcome: { status: 'sent', messageId: found.messageId } };
      // A search that failed says nothing: the message stays as unsure as it was.
      if (found.status !== 'absent' && found.status !== 'unknown') return { batch: done, outcome: found };
      blind = found.status === 'unknown';
      if (blind) log.warn({ channel: batch.channelId, batch: batch.id }, 'repeated without a look at the history');
    }
    await store.outbox.countAttempt(batch.id, now);
    const body = JSON.parse(batch.payload) as object;
    turn.send();
    return {
      batch: { ...done, blind },
      outcome: await sender.create(batch.channelId, body, batch.nonce, batch.attachment),
    };
  }

  /** Changes a sent message; nothing is changed if it was never sent, or if some of what it tells is forgotten. */
  async function change(batch: Batch, original: Original | null): Promise<SendOutcome> {
    const messageId = original?.messageId;
    const unchanged: SendOutcome = { status: 'sent', messageId: null };
    if (!messageId) return unchanged;
    if (batch.payload !== '') return sender.edit(batch.channelId, messageId, JSON.parse(batch.payload) as object);
    const alerts = await toldBy(original, store);
    if (!alerts) return unchanged;
    const anew = await renderedAnew({ ...original, alerts }, batch.reference);
    if (!anew) return { status: 'refused', reason: 'The message has no room for what is known now.' };
    return sender.edit(batch.channelId, messageId, anew.payload, anew.csv);
  }

  /** A message as it would be rendered now; null where it cannot be rendered any more, or no longer as a whole. */
  async function renderedAnew({ alerts, reason, plain }: Original, reference: string) {
    try {
      if (plain) return { payload: options.renderPlain(alerts[0]!, reference), csv: null };
      const anew =
        reason === null
          ? { ...options.render(alerts, reference, null), csv: null }
          : await options.renderDigest(alerts, reference, reason, null);
      return anew.used < alerts.length ? null : anew;
    } catch (error) {
      log.error({ err: error, alert: alerts[0]!.id }, 'lines cannot be rendered');
      return null;
    }
  }

  return (channel: Channel, next: Exclude<NextMessage, { status: 'nothing' }>, turn: Turn): Promise<Sent | null> =>
    next.status === 'batch'
      ? repeat(next, turn)
      : sendNew(channel, next, turn).catch((error: unknown) => unrenderable(channel, next.alerts[0]!, error));
}
