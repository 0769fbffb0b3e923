import type { Logger } from 'pino';
import { type Alert, type DigestReason, mentionsOf, transactionOf } from '../domain/alert.ts';
import {
  type Batch,
  type DueAlerts,
  digestReason,
  type EditBatch,
  type Joinable,
  type Lane,
  MAX_ALERTS,
  type NewBatch,
  type NextMessage,
  newNames,
  type Original,
  type ShownDeliveries,
  shownDeliveries,
} from '../domain/batch.ts';
import { type Clock, MINUTE } from '../domain/clock.ts';
import type { Sender, SendOutcome } from '../domain/sender.ts';
import { StoreError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import type { Attempt } from './outcome.ts';
import type { Channel } from './schedule.ts';

/** Discord forgets a nonce after a few minutes; from then on a repeat looks for its message first. */
const NONCE_LIFETIME_MS = 2 * MINUTE;
const MAX_DIGEST_ALERTS = 20_000;
/** Alerts that are read at once, so that neither the store nor the event loop is blocked. */
const PAGE = 500;

/** Each renderer puts `reference` into the message, by which it can be found. */
export interface Renderers {
  /** `used`, here and below: how many alerts fit, from the first one. */
  render(alerts: Alert[], reference: string, now: number): { payload: object; used: number };
  /** `frozen`: JSON of the body that the message was created with, whose form it keeps. */
  renderAgain(alerts: Alert[], reference: string, frozen: string): { payload: object; used: number };
  /** How many alerts fit in such a message, with room for names that are added later. */
  countFitting(alerts: Alert[], frozen: string): number;
  renderPlain(alert: Alert, reference: string): object;
  /** With `now` it may mention roles; with null it must not. */
  renderDigest(
    alerts: Alert[],
    reference: string,
    reason: DigestReason,
    now: number | null,
  ): Promise<{ payload: object; csv: string | null; used: number }>;
}

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
      const { body, shown, ...message } = await compose(channel, due, options, now);
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

type Message = NewBatch & { body: object; shown: ShownDeliveries };

async function compose(
  { id: channelId, search }: Pick<Channel, 'id' | 'search'>,
  due: DueAlerts,
  options: SendOptions,
  now: number,
): Promise<Message> {
  const names = newNames(now);
  const { reference } = names;
  let { alerts } = due;
  // While an alert is searched for that Discord refuses, there is no digest.
  const reason = search.limit < MAX_ALERTS ? null : digestReason(due, now);
  let body: object;
  let attachment: string | null = null;
  if (search.plain) {
    alerts = alerts.slice(0, 1);
    body = options.renderPlain(alerts[0]!, reference);
  } else if (reason) {
    const all = await everyDueAlert(options.store, channelId, due.lane, now);
    const digest = await options.renderDigest(all, reference, reason, now);
    alerts = all.slice(0, digest.used);
    body = digest.payload;
    attachment = digest.csv;
  } else {
    const { payload, used } = options.render(alerts, reference, now);
    alerts = alerts.slice(0, used);
    body = payload;
  }
  const rendered: NewBatch['alerts'] = [];
  for (const { id, count, reorganized } of alerts) rendered.push({ id, count, reorganized });
  return {
    channelId,
    kind: reason === null ? 'create' : 'digest',
    reason,
    ...names,
    payload: JSON.stringify(body),
    plainText: search.plain,
    attachment,
    alerts: rendered,
    mentioning: search.plain ? [] : mentionsOf(alerts, now).mentioning,
    isSignificant: due.lane.isSignificant,
    body,
    shown: shownDeliveries(alerts),
  };
}

/** Freezing the message fails if an alert changes meanwhile. */
async function everyDueAlert(store: Store, channelId: string, lane: Lane, now: number): Promise<Alert[]> {
  const all: Alert[] = [];
  while (all.length < MAX_DIGEST_ALERTS) {
    const page = await store.outbox.due(channelId, lane, now, all.at(-1)?.id ?? 0, PAGE);
    all.push(...page);
    if (page.length < PAGE) break;
  }
  return all;
}

/** null: some of the alerts are forgotten. */
async function alertsOf(
  { alerts, ids }: Original,
  store: { outbox: Pick<Store['outbox'], 'alerts'> },
): Promise<Alert[] | null> {
  const all = [...alerts];
  for (let from = 0; from < ids.length; from += PAGE) {
    all.push(...(await store.outbox.alerts(ids.slice(from, from + PAGE))));
  }
  return all.length === 0 || all.length < ids.length ? null : all;
}

/** null: the alerts need their own message, because they do not fit or mention somebody. */
function composeJoined(
  to: Joinable,
  alerts: Alert[],
  renderers: Pick<Renderers, 'renderAgain' | 'countFitting'>,
  now: number,
): { body: object; alerts: Alert[] } | null {
  const isSame = (alert: Alert) => transactionOf(alert) === to.transaction;
  const joining = alerts.filter(isSame);
  if (mentionsOf(joining, now).roles.length > 0) return null;
  const after = to.alerts.findLastIndex(isSame) + 1;
  const all = to.alerts.toSpliced(after, 0, ...joining);
  if (renderers.countFitting(all, to.payload) < all.length) return null;
  return { body: renderers.renderAgain(all, to.reference, to.payload).payload, alerts: joining };
}
