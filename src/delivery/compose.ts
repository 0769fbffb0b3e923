import type { Alert } from '../domain/alert.ts';
import {
  type DueAlerts,
  type Joinable,
  MAX_ALERTS,
  type NewBatch,
  type Original,
  type ShownDeliveries,
  shownDeliveries,
} from '../domain/batch.ts';
import { digestReason } from '../domain/burst.ts';
import type { DigestReason, Hold } from '../domain/hold.ts';
import { mentionsOf } from '../domain/mention.ts';
import type { Store } from '../store/store.ts';
import type { Channel } from './channel-table.ts';
import { newReference, nonceOf } from './reference.ts';

/** Maximum number of alerts in one digest. */
const MAX_DIGEST_ALERTS = 20_000;
/** Alerts that are read at once, so that neither the store nor the event loop is blocked. */
const PAGE = 500;

/**
 * How alerts become messages. Each renderer puts `reference` into the message, by which it can be found. With `now` the
 * message may mention roles; with null it must not.
 */
export interface Renderers {
  /**
   * `used`, here and in a digest: how many fit, from the first one. `frozen`: JSON of the body that the message was
   * created with, whose form it keeps; null: it is a new one.
   */
  render(
    alerts: Alert[],
    reference: string,
    now: number | null,
    frozen: string | null,
  ): { payload: object; used: number };
  renderPlain(alert: Alert, reference: string): object;
  renderDigest(
    alerts: Alert[],
    reference: string,
    reason: DigestReason,
    now: number | null,
  ): Promise<{ payload: object; csv: string | null; used: number }>;
}

/** A message before it is frozen; `body`: its payload; `shown`: which deliveries it shows. */
type Message = NewBatch & { body: object; shown: ShownDeliveries };

/** Makes a message of due alerts: a digest of all of them, as many as fit, or a single one as plain text. */
export async function compose(
  { id: channelId, search }: Pick<Channel, 'id' | 'search'>,
  due: DueAlerts,
  { renderers, store, now }: { renderers: Renderers; store: Store; now: number },
): Promise<Message> {
  const { alerts } = due;
  const reference = newReference();
  const message = (
    kind: NewBatch['kind'],
    reason: DigestReason | null,
    posted: Alert[],
    body: object,
    csv: string | null = null,
  ): Message => ({
    channelId,
    kind,
    reason,
    reference,
    nonce: nonceOf(reference, now),
    payload: JSON.stringify(body),
    plainText: search.plain,
    attachment: csv,
    alerts: posted.map(({ id, count, reorganized }) => ({ id, count, reorganized })),
    mentioning: search.plain ? [] : mentionsOf(posted, now).subscriptions,
    body,
    shown: shownDeliveries(posted),
  });

  if (search.plain) {
    const [first] = alerts;
    return message('create', null, [first!], renderers.renderPlain(first!, reference));
  }
  // While an alert is searched for that Discord refuses, there is no digest.
  const reason = search.limit < MAX_ALERTS ? null : digestReason(due, now);
  if (reason) {
    const hold: Hold | null = reason === 'backlog' || reason === 'burst' ? null : reason;
    const all = await everyDueAlert(store, channelId, hold, now);
    const { payload, csv, used } = await renderers.renderDigest(all, reference, reason, now);
    return message('digest', reason, all.slice(0, used), payload, csv);
  }
  const { payload, used } = renderers.render(alerts, reference, now, null);
  return message('create', null, alerts.slice(0, used), payload);
}

/** Reads all due alerts in pages; freezing the message fails if one changes meanwhile. */
async function everyDueAlert(store: Store, channelId: string, hold: Hold | null, now: number): Promise<Alert[]> {
  const all: Alert[] = [];
  while (all.length < MAX_DIGEST_ALERTS) {
    const page = await store.outbox.due(channelId, hold, now, all.at(-1)?.id ?? 0, PAGE);
    all.push(...page);
    if (page.length < PAGE) break;
  }
  return all;
}

/** Reads the alerts of a sent message, in pages; null if some of them are forgotten. */
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

/**
 * Appends a transaction's alerts to the message that already shows it; null if they need their own message, because they
 * do not fit or mention somebody.
 */
export function composeJoined(
  to: Joinable,
  alerts: Alert[],
  render: Renderers['render'],
  now: number,
): { body: object; alerts: Alert[] } | null {
  const isSame = ({ transfer }: Alert) => transfer.txHash === to.txHash;
  const joining = alerts.filter(isSame);
  if (mentionsOf(joining, now).roles.length > 0) return null;
  const after = to.alerts.findLastIndex(isSame) + 1;
  const all = to.alerts.toSpliced(after, 0, ...joining);
  // Rendered as a new message first, which leaves room for names that are added later.
  if (render(all, to.reference, now, to.payload).used < all.length) return null;
  return { body: render(all, to.reference, null, to.payload).payload, alerts: joining };
}
