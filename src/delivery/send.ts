import type { Logger } from 'pino';
import type { Alert } from '../domain/alert.ts';
import {
  type Batch,
  type EditBatch,
  type NextMessage,
  type Original,
  type ShownDeliveries,
  shownDeliveries,
} from '../domain/batch.ts';
import { type Clock, MINUTE } from '../domain/clock.ts';
import type { Sender, SendOutcome } from '../domain/sender.ts';
import { StoreError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { alertsOf, compose, composeJoined, type Renderers } from './compose.ts';
import type { Attempt } from './outcome.ts';
import type { Channel } from './schedule.ts';

/** Discord forgets a nonce after a few minutes; from then on a repeat looks for its message first. */
const NONCE_LIFETIME_MS = 2 * MINUTE;

export interface SendOptions extends Renderers {
  store: Store;
  sender: Sender;
  clock: Clock;
  log: Logger;
  metrics?: {
    attempted(
      attempt: Pick<Attempt, 'kind' | 'alerts'> & Pick<ShownDeliveries, 'receivedAt'> & { outcome: SendOutcome },
      now: number,
    ): void;
  };
}

const isUpdate = ({ kind, payload }: Batch): boolean => kind === 'edit' && payload === null;

export type Sent = { status: 'attempted'; attempt: Attempt; outcome: SendOutcome };

/** `reason` null: there is nothing to update. */
type NotEdited = { status: 'not-edited'; batchId: number; reason: string | null };

/** `changed`: the alerts changed since they were read, so nothing was sent. */
type SendResult = Sent | NotEdited | { status: 'changed' } | { status: 'unrenderable'; alerts: Alert[]; error: Error };

export function createSend(options: SendOptions) {
  const { store, sender, clock, log } = options;

  async function sendNew(
    channel: Channel,
    due: Extract<NextMessage, { status: 'alerts' }>,
    countRequest: () => void,
  ): Promise<SendResult> {
    const now = clock.now();
    const first = { attempts: 1, frozenAt: now, unconfirmed: false, isUpdate: false };
    try {
      for (const to of due.joins) {
        const joined = composeJoined(to, due.alerts, options, now);
        if (!joined) continue;
        const { body, alerts } = joined;
        const id = await store.outbox.join(channel.id, to, alerts, JSON.stringify(body), now);
        if (id === null) return { status: 'changed' };
        countRequest();
        const outcome = await sender.edit(channel.id, to.messageId, body);
        const attempt: Attempt = { id, kind: 'edit', ...first, alerts: alerts.length, shown: shownDeliveries(alerts) };
        return { status: 'attempted', attempt, outcome };
      }
      const { body, shown, ...message } = await compose(channel, due, { renderers: options, store, now });
      const id = await store.outbox.freeze(message, now);
      if (id === null) return { status: 'changed' };
      countRequest();
      const outcome = await sender.create(channel.id, body, message.nonce, message.attachment);
      const attempt: Attempt = { id, kind: message.kind, ...first, alerts: message.alerts.length, shown };
      return { status: 'attempted', attempt, outcome };
    } catch (error) {
      if (error instanceof StoreError) throw error;
      const { alerts } = due;
      log.error({ err: error, channel: channel.id, alert: alerts[0]!.id }, 'alerts cannot be rendered');
      return { status: 'unrenderable', alerts, error: error as Error };
    }
  }

  async function repeat(
    { batch, original, alerts, shown }: Extract<NextMessage, { status: 'batch' }>,
    countRequest: () => void,
  ): Promise<SendResult> {
    const now = clock.now();
    // If an earlier attempt may have reached Discord, a response to this one does not show that no message is there.
    const { unconfirmed } = batch;
    const attempt = { ...batch, attempts: batch.attempts + 1, alerts, shown, isUpdate: isUpdate(batch) };
    if (batch.kind === 'edit') {
      const outcome = await edit(batch, original, countRequest);
      return outcome.status === 'not-edited' ? outcome : { status: 'attempted', attempt, outcome };
    }
    let isHistoryHidden = false;
    if (unconfirmed && batch.firstSentAt !== null && Math.abs(now - batch.firstSentAt) > NONCE_LIFETIME_MS) {
      const found = await sender.find(batch.channelId, batch.reference, batch.firstSentAt, countRequest);
      if (found.status === 'found')
        return { status: 'attempted', attempt, outcome: { status: 'sent', messageId: found.messageId } };
      // A search that failed shows nothing: the message stays unconfirmed.
      if (found.status !== 'absent' && found.status !== 'unknown')
        return { status: 'attempted', attempt, outcome: found };
      isHistoryHidden = found.status === 'unknown';
      if (isHistoryHidden)
        log.warn({ channel: batch.channelId, batch: batch.id }, 'repeating a message without its history');
    }
    await store.outbox.countAttempt(batch.id, now);
    const body = JSON.parse(batch.payload) as object;
    countRequest();
    const outcome = await sender.create(batch.channelId, body, batch.nonce, batch.attachment);
    return { status: 'attempted', attempt: { ...attempt, isHistoryHidden }, outcome };
  }

  /** Leaves a message as it is if it was never sent, or if some of its alerts are forgotten. */
  async function edit(
    batch: EditBatch,
    original: Original | null,
    countRequest: () => void,
  ): Promise<SendOutcome | NotEdited> {
    const notEdited = (reason: string | null): NotEdited => ({ status: 'not-edited', batchId: batch.id, reason });
    const messageId = original?.messageId;
    if (!messageId) return notEdited(null);
    if (batch.payload !== null) {
      countRequest();
      return sender.edit(batch.channelId, messageId, JSON.parse(batch.payload) as object);
    }
    const alerts = await alertsOf(original, store);
    if (!alerts) return notEdited(null);
    const rendered = await renderedAgain({ ...original, alerts }, batch.reference);
    if (!rendered) return notEdited('The updated alerts do not fit in the message.');
    countRequest();
    return sender.edit(batch.channelId, messageId, rendered.payload, rendered.csv);
  }

  /** null: it can no longer be rendered, or not as a whole. */
  async function renderedAgain({ alerts, reason, plainText, payload }: Original, reference: string) {
    try {
      if (plainText) return { payload: options.renderPlain(alerts[0]!, reference), csv: null };
      const rendered =
        reason === null
          ? { ...options.renderAgain(alerts, reference, payload), csv: null }
          : await options.renderDigest(alerts, reference, reason, null);
      return rendered.used < alerts.length ? null : rendered;
    } catch (error) {
      log.error({ err: error, alert: alerts[0]!.id }, 'alerts cannot be rendered');
      return null;
    }
  }

  return { sendNew, repeat };
}
