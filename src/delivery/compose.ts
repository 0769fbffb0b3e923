import { randomBytes } from 'node:crypto';
import { type Alert, type DigestReason, mentionsOf, transactionOf } from '../domain/alert.ts';
import {
  type DueAlerts,
  digestReason,
  type Joinable,
  type Lane,
  MAX_ALERTS,
  type NewBatch,
  type Original,
  type ShownDeliveries,
  shownDeliveries,
} from '../domain/batch.ts';
import type { Store } from '../store/store.ts';
import type { Channel } from './schedule.ts';

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

/** `reference`: ten capitals and digits. `nonce`, of at most 25 characters: Discord recognizes a repeated message by it. */
function newNames(now: number): { reference: string; nonce: string } {
  const random = randomBytes(8).readBigUInt64BE().toString(36);
  const reference = random.padStart(10, '0').slice(-10).toUpperCase();
  return { reference, nonce: `${now.toString(36)}${reference}`.slice(0, 25) };
}

/** A message about something other than transfers. */
export function composeNotice(now: number, bodyOf: (reference: string) => object) {
  const names = newNames(now);
  return { ...names, payload: JSON.stringify(bodyOf(names.reference)), now };
}

type Message = NewBatch & { body: object; shown: ShownDeliveries };

export async function compose(
  { id: channelId, search }: Pick<Channel, 'id' | 'search'>,
  due: DueAlerts,
  { renderers, store, now }: { renderers: Renderers; store: Store; now: number },
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
    body = renderers.renderPlain(alerts[0]!, reference);
  } else if (reason) {
    const all = await everyDueAlert(store, channelId, due.lane, now);
    const digest = await renderers.renderDigest(all, reference, reason, now);
    alerts = all.slice(0, digest.used);
    body = digest.payload;
    attachment = digest.csv;
  } else {
    const { payload, used } = renderers.render(alerts, reference, now);
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
export async function alertsOf(
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
export function composeJoined(
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
