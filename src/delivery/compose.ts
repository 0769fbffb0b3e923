import type { Alert } from '../domain/alert.ts';
import type { DueAlerts, Joinable, NewBatch, Original } from '../domain/batch.ts';
import { MINUTE } from '../domain/clock.ts';
import { mentionsOf } from '../domain/mention.ts';
import { newReference, nonceOf } from '../domain/reference.ts';
import type { DigestReason, Hold } from '../domain/schedule.ts';
import type { Store } from '../store/store.ts';

/** Alerts that go into one message at the most, unless they tell of one transaction. */
export const BATCH = 10;
/** A channel's backlog from which on its alerts are told as a digest. */
const DIGEST_LINES = 50;
const DIGEST_AGE_MS = 30 * MINUTE;
/** Alerts that are read for one digest. */
const DIGEST_MOST = 20_000;
/** Alerts that are read at once, so that neither the database nor the event loop is held for long. */
const PAGE = 500;

/**
 * How alerts become messages. Each renderer puts `reference` into the message, so that it can be found again. With `now`
 * the message may mention roles; with null it must not.
 */
export interface Renderers {
  /** `used`, here and in a digest: as many as fit, from the front. */
  render(alerts: Alert[], reference: string, now: number | null): { payload: object; used: number };
  renderPlain(alert: Alert, reference: string): object;
  renderDigest(
    alerts: Alert[],
    reference: string,
    reason: DigestReason,
    now: number | null,
  ): Promise<{ payload: object; csv: string | null; used: number }>;
}

/** How a channel takes its next message. */
export interface Take {
  id: string;
  /** Alerts to take; fewer than ten while a refused line is being searched for. */
  limit: number;
  /** The next single alert goes out as plain text. */
  plain: boolean;
}

/** A message to be: everything that is frozen before it is sent. */
type Message = NewBatch & { body: object };

/** Lines, one plain line, or a digest of everything that is due. */
export async function compose(
  channel: Take,
  lines: DueAlerts,
  { renderers, store, now }: { renderers: Renderers; store: Store; now: number },
): Promise<Message> {
  const { alerts } = lines;
  const reference = newReference();
  const message = (
    kind: NewBatch['kind'],
    reason: DigestReason | null,
    told: Alert[],
    body: object,
    csv: string | null = null,
  ): Message => ({
    channelId: channel.id,
    kind,
    reason,
    reference,
    nonce: nonceOf(reference, now),
    payload: JSON.stringify(body),
    attachment: csv,
    alerts: told.map(({ id, count, reorganised }) => ({ id, count, reorganised })),
    mentioning: channel.plain ? [] : mentionsOf(told, now).subscriptions,
    body,
  });

  if (channel.plain) {
    const [first] = alerts;
    return message('create', null, [first!], renderers.renderPlain(first!, reference));
  }
  const reason = digestReason(channel, lines, now);
  if (reason) {
    const hold: Hold | null = reason === 'backlog' || reason === 'burst' ? null : reason;
    const all = await everything(store, channel.id, hold, now);
    const { payload, csv, used } = await renderers.renderDigest(all, reference, reason, now);
    return message('digest', reason, all.slice(0, used), payload, csv);
  }
  const { payload, used } = renderers.render(alerts, reference, now);
  return message('create', null, alerts.slice(0, used), payload);
}

/** All alerts that are due, page by page; if one changes meanwhile, that is noticed when the message is frozen. */
async function everything(store: Store, channelId: string, hold: Hold | null, now: number): Promise<Alert[]> {
  const all: Alert[] = [];
  while (all.length < DIGEST_MOST) {
    const page = await store.outbox.due(channelId, hold, now, all.at(-1)?.id ?? 0, PAGE);
    all.push(...page);
    if (page.length < PAGE) break;
  }
  return all;
}

/** The alerts that a sent message tells, a digest's page by page; null when some of them are forgotten. */
export async function toldBy({ alerts, ids }: Original, store: Store): Promise<Alert[] | null> {
  const all = [...alerts];
  for (let from = 0; from < ids.length; from += PAGE) {
    all.push(...(await store.outbox.alerts(ids.slice(from, from + PAGE))));
  }
  return all.length === 0 || all.length < ids.length ? null : all;
}

/** Why these alerts are told together; null: line by line, as is always done while a refused line is searched for. */
function digestReason({ limit }: Take, { waiting, oldest, reason }: DueAlerts, now: number): DigestReason | null {
  // A single one says more as a line.
  if (limit < BATCH || waiting === 1) return null;
  if (reason) return reason;
  const late = now - oldest > DIGEST_AGE_MS && waiting > BATCH;
  return waiting > DIGEST_LINES || late ? 'backlog' : null;
}

/**
 * The message that tells of a transaction, with the alerts of the same transaction added; null where they need a message
 * of their own: they do not fit, or they mention somebody.
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
  // Rendered as a new message, so that there is room left for names that come later.
  if (render(all, to.reference, now).used < all.length) return null;
  return { body: render(all, to.reference, null).payload, alerts: joining };
}
