import { type AddressText, ZERO_ADDRESS } from '../../domain/address.ts';
import {
  type Alert,
  type AlertMatch,
  type RenderedAlert,
  type StoredMatch,
  transactionOf,
} from '../../domain/alert.ts';
import { type AlertStyle, type Perspective, styleOf } from '../../domain/subscription.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { isIn, type Part, part, raw, rows, type Sql } from '../sql.ts';

interface AlertRow extends Omit<Alert, 'matches' | 'labels' | 'style' | 'isCataloged'> {
  matches: StoredMatch[];
  locale: string | null;
  guildStyle: AlertStyle | null;
  isCataloged: boolean | null;
}

const SELECT = part`SELECT a.id, a.guild_id, a.channel_id, a.created_at, t.seen_at AS received_at, a.inbox_id, t.network,
    a.matches AS matches_json, a.significant AS is_significant_flag, t.data AS transfer_json, t.count,
    t.reorganized AS reorganized_flag, a.warnings AS warnings_json, a.hold, g.language, g.locale, g.style AS guild_style,
    (SELECT cataloged FROM catalog WHERE network = t.network AND token = t.token) AS is_cataloged_flag
  FROM alerts a JOIN transfers t ON t.id = a.transfer_id LEFT JOIN guilds g ON g.guild_id = a.guild_id`;

/** `address` null: the subscription was removed. */
type MatchedSubscription = Omit<AlertMatch, keyof StoredMatch | 'label' | 'address'> & {
  address: AddressText | null;
  style: AlertStyle | null;
  minorMentionedAt: number | null;
};

/** `rest`: conditions on alerts `a` and transfers `t`, and the order. */
export async function readAlerts(sql: Sql, rest: Part): Promise<Alert[]> {
  const found = await sql.all<AlertRow>`${SELECT} ${rest}`;
  if (found.length === 0) return [];
  const ids = new Set<number>();
  const matched = new Map<number, { id: number }>();
  for (const { id, matches } of found) {
    ids.add(id);
    for (const { subscription } of matches) matched.set(subscription, { id: subscription });
  }
  const subscriptions = new Map<number, MatchedSubscription>();
  for (const { id, ...subscription } of await sql.all<MatchedSubscription & { id: number }>`
    SELECT m.id, mention, address, minimum_usd, mention_minimum, mention_minimum_usd, mentioned_at, minor_mentioned_at, style,
      coalesce(mention_cooldown, 0) AS mention_cooldown, coalesce(show_balance, 0) AS shows_balance_flag
    FROM ${rows(matched.values(), 'm (id bigint)')} LEFT JOIN subscriptions s ON s.id = m.id`)
    subscriptions.set(id, subscription);
  const labels = new Map<number, Alert['labels']>();
  for (const { id, address, name } of await sql.all<{ id: number; address: AddressText; name: string }>`
    SELECT a.id, l.address, l.name FROM alerts a JOIN transfers t ON t.id = a.transfer_id
      JOIN labels l ON l.guild_id = a.guild_id AND l.address IN (t.from_address, t.to_address, t.token)
    WHERE a.id ${isIn(ids)}`)
    labels.set(id, { ...labels.get(id), [address]: name });
  const alerts: Alert[] = [];
  for (const { matches: stored, locale, guildStyle, isCataloged, ...alert } of found) {
    const named = labels.get(alert.id) ?? {};
    const matches: AlertMatch[] = [];
    const styles: (AlertStyle | null)[] = [];
    for (const match of stored) {
      const { style, minorMentionedAt, ...subscription } = subscriptions.get(match.subscription)!;
      const address = subscription.address ?? addressOf(match.perspective, alert.transfer);
      const mentionedAt = alert.isSignificant ? subscription.mentionedAt : minorMentionedAt;
      matches.push({ ...match, ...subscription, address, mentionedAt, label: named[address] ?? null });
      styles.push(style);
    }
    alerts.push({
      ...alert,
      matches,
      labels: named,
      style: styleOf(styles, guildStyle),
      language: alert.language ?? locale,
      isCataloged: isCataloged ?? false,
    });
  }
  return alerts;
}

function addressOf(perspective: Perspective, { from, to, token }: Transfer): AddressText {
  const address = perspective === 'incoming' ? to : perspective === 'token' ? token : from;
  return address ?? ZERO_ADDRESS;
}

/** In the order of the ids; deleted alerts are left out. */
export async function alertsById(sql: Sql, ids: readonly number[]): Promise<Alert[]> {
  const found = new Map((await readAlerts(sql, part`WHERE a.id ${isIn(ids)}`)).map((alert) => [alert.id, alert]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

export const alertsOfBatch = async (sql: Sql, batchId: number): Promise<Alert[]> =>
  byTransaction(await readAlerts(sql, part`WHERE a.batch_id = ${batchId} ORDER BY a.due_at, a.id`));

/**
 * The transfers `t` and alerts `a` of the same transactions; `others`: tables that are joined. Finds them by the hash,
 * not by the network or the channel, which may have a million.
 */
export function ofSameTransactions(alerts: readonly Alert[], others = part``): Part {
  const transactions = new Map<string, object>();
  for (const alert of alerts)
    transactions.set(transactionOf(alert), { network: alert.network, txHash: alert.transfer.txHash });
  return part`
    FROM ${rows(transactions.values(), 'r (network bigint, tx_hash text)')}
      CROSS JOIN transfers t CROSS JOIN alerts a ${others}
    WHERE substr(t.tx_hash, 3, 8) = substr(r.tx_hash, 3, 8) AND t.tx_hash = r.tx_hash AND +t.network = r.network
      AND a.transfer_id = t.id`;
}

/** Keeps the order, but moves the alerts of each transaction behind its first one. */
export const byTransaction = (alerts: readonly Alert[]): Alert[] =>
  [...Map.groupBy(alerts, transactionOf).values()].flat();

/**
 * Between reading and freezing alerts, the router may have counted another equal transfer, which the message would
 * never show. With `waiting`, the alerts must also still wait.
 */
export async function areAsRendered(sql: Sql, alerts: readonly RenderedAlert[], waiting: boolean): Promise<boolean> {
  const unchanged = await sql.value<number>`
    SELECT count(*) FROM ${rows(alerts, 'r (id bigint, count bigint, reorganized smallint)')}
      CROSS JOIN alerts a CROSS JOIN transfers t
    WHERE a.id = r.id AND t.id = a.transfer_id ${raw(waiting ? "AND a.state = 'waiting'" : '')}
      AND t.count = r.count AND t.reorganized = r.reorganized`;
  return unchanged === alerts.length;
}

export async function assign(sql: Sql, batchId: number, alerts: readonly RenderedAlert[]): Promise<void> {
  await sql.run`
    UPDATE alerts SET state = 'frozen', batch_id = ${batchId}
    WHERE id IN (SELECT id FROM ${rows(alerts, 'r (id bigint)')})`;
}
