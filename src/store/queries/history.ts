import type { ActivityQuery, DecidedTransfer, PostedIn } from '../../domain/activity.ts';
import type { AddressText } from '../../domain/address.ts';
import type { StoredMatch, Warning } from '../../domain/alert.ts';
import type {
  HistoryQuery,
  MessageTransaction,
  RecentQuery,
  RecentTransfers,
  RecordedAlert,
  RecordedDecision,
  TransferHistory,
} from '../../domain/history.ts';
import { alsoIs, isIn, part, type QueriesOf, report, type Sql } from '../sql.ts';
import type { History } from '../store.ts';
import { collectingUntil } from './claims.ts';
import { scopesOf } from './projects.ts';

const ofAddress = ({ guildId, since, until, address }: Omit<ActivityQuery, 'channelIds'>) =>
  part`guild_id = ${guildId} AND at BETWEEN ${since} AND ${until} AND address = ${address}`;

export const history: QueriesOf<History> = {
  transfers: report(transfers),

  transactionsOfMessage: report(async (sql, guildId, reference, max, skip) => {
    const found = await sql.all<Omit<MessageTransaction, 'perspectives'> & { matches: StoredMatch[]; total: number }>`
      SELECT shown.network, shown.tx_hash, transfers, total, a.matches AS matches_json, t.data AS transfer_json
      FROM (
        SELECT t.network, t.tx_hash, count(*) AS transfers, max(a.significant) AS significant,
          coalesce(min(a.id) FILTER (WHERE a.significant = 1), min(a.id)) AS first, count(*) OVER () AS total
        FROM batches b JOIN alerts a ON a.batch_id = b.id JOIN transfers t ON t.id = a.transfer_id
        WHERE b.reference = ${reference} AND a.guild_id = ${guildId} GROUP BY t.network, t.tx_hash
        ORDER BY max(a.significant) DESC, min(a.id) LIMIT ${max} OFFSET ${skip}) AS shown
        JOIN alerts a ON a.id = shown.first JOIN transfers t ON t.id = a.transfer_id
      ORDER BY shown.significant DESC, first`;
    return {
      total: found[0]?.total ?? 0,
      shown: found.map(({ total: _, matches, ...shown }) => {
        return { ...shown, perspectives: matches.map(({ perspective }) => perspective) };
      }),
    };
  }),

  activityChannels: report(
    (sql, query) => sql.list`SELECT DISTINCT channel_id FROM decisions WHERE ${ofAddress(query)} ORDER BY 1`,
  ),

  decidedTransfers: report(decidedTransfers),

  postedIn: report(async (sql, guildId, transferIds, channelIds) => {
    const found = await sql.all<PostedIn>`
      SELECT a.transfer_id, b.channel_id, b.message_id
      FROM alerts a JOIN batches b ON b.id = a.batch_id
      WHERE a.transfer_id ${isIn(transferIds)} AND ${alsoIs('a.guild_id', guildId)} AND b.state = 'sent'
        AND b.message_id IS NOT NULL
        AND a.channel_id ${isIn(channelIds)} ORDER BY a.id`;
    const byTransfer = Map.groupBy(found, ({ transferId }) => transferId);
    return transferIds.flatMap((id) => byTransfer.get(id)?.[0] ?? []);
  }),

  recentTransfers: report(recentTransfers),

  // Frozen messages count too, because they are rendered already.
  messagesShowing: report(
    (sql, guildId, addresses, since, limit) =>
      sql.all`
        SELECT b.channel_id, b.reference FROM channels c JOIN batches b ON b.channel_id = c.channel_id
        WHERE c.guild_id = ${guildId} AND b.kind = 'create'
          AND (b.state = 'frozen' OR b.state = 'sent' AND b.sent_at > ${since})
          AND EXISTS (SELECT 1 FROM alerts a JOIN transfers t ON t.id = a.transfer_id
            WHERE a.batch_id = b.id AND (t.from_address ${isIn(addresses)} OR t.to_address ${isIn(addresses)}
              OR t.token ${isIn(addresses)}))
        ORDER BY b.id DESC LIMIT ${limit}`,
  ),

  counterparties: report(async (sql, guildId, decisions) => {
    const found = await sql.all<{ from: AddressText | null; to: AddressText | null }>`
      SELECT t.from_address AS "from", t.to_address AS "to" FROM decisions d JOIN transfers t ON t.id = d.transfer_id
      WHERE d.guild_id = ${guildId} ORDER BY d.at DESC, d.id DESC LIMIT ${decisions}`;
    return [...new Set(found.flatMap(({ from, to }) => [from, to].filter((address) => address !== null)))];
  }),
};

/** All decisions of the latest moments that together hold `limit` transfers. */
async function decidedTransfers(sql: Sql, query: ActivityQuery, limit: number): Promise<DecidedTransfer[]> {
  const { channelIds, network = null } = query;
  const here = part`AND (SELECT network FROM transfers WHERE id = transfer_id) = ${network}`;
  const those = part`${ofAddress(query)} AND channel_id ${isIn(channelIds)} ${network === null ? part`` : here}`;
  const decisions = await sql.all<{ transferId: number; at: number; outcome: DecidedTransfer['outcomes'][number] }>`
    WITH latest AS (
      SELECT transfer_id, max(at) AS at FROM decisions WHERE ${those}
      GROUP BY transfer_id ORDER BY max(at) DESC LIMIT ${limit})
    SELECT transfer_id, at, outcome FROM decisions
    WHERE ${those} AND at >= (SELECT min(at) FROM latest)
    ORDER BY at DESC, id DESC`;
  const decided = Map.groupBy(decisions, ({ transferId }) => transferId);
  const stored = await storedTransfers(sql, query.guildId, [...decided.keys()]);
  return [...decided].map(([transferId, [first, ...others]]) => ({
    transferId,
    at: first!.at,
    outcomes: [first!, ...others].map(({ outcome }) => outcome),
    ...stored.get(transferId)!,
  }));
}

type Stored = Pick<DecidedTransfer, 'network' | 'transfer' | 'count' | 'warnings'>;

async function storedTransfers(sql: Sql, guildId: string, ids: readonly number[]): Promise<Map<number, Stored>> {
  const found = await sql.all<Omit<Stored, 'warnings'> & { id: number }>`
    SELECT id, network, data AS transfer_json, count FROM transfers WHERE id ${isIn(ids)}`;
  const alerts = await sql.all<{ transferId: number; warnings: Warning[] }>`
    SELECT transfer_id, warnings AS warnings_json FROM alerts
    WHERE transfer_id ${isIn(ids)} AND ${alsoIs('guild_id', guildId)} ORDER BY id`;
  const warned = Map.groupBy(alerts, ({ transferId }) => transferId);
  return new Map(
    found.map(({ id, ...row }) => [
      id,
      { ...row, warnings: (warned.get(id) ?? []).flatMap((alert) => alert.warnings) },
    ]),
  );
}

async function recentTransfers(sql: Sql, query: RecentQuery, limit: number): Promise<RecentTransfers> {
  const { guildId, address, network, since, until, channelIds } = query;
  const scopes = await scopesOf(sql, guildId, network);
  // `limit` transfers, and the others that arrived in the same moment as the last of them.
  const range = await sql.get<Omit<RecentTransfers, 'involved'>>`
    SELECT count(*) AS seen, min(seen_at) AS oldest FROM transfers
    WHERE scope ${isIn(scopes)} AND seen_at <= ${until} AND seen_at >= (SELECT min(seen_at) FROM (
      SELECT seen_at FROM transfers WHERE scope ${isIn(scopes)} AND seen_at BETWEEN ${since} AND ${until}
      ORDER BY seen_at DESC LIMIT ${limit}) AS latest)`;
  const { seen, oldest } = range!;
  if (oldest === null) return { seen, oldest, involved: [] };
  const decided = part`AND EXISTS (
    SELECT 1 FROM decisions WHERE transfer_id = t.id AND ${alsoIs('guild_id', guildId)} AND channel_id ${isIn(channelIds ?? [])})`;
  const involved = await sql.all<RecentTransfers['involved'][number]>`
    SELECT network, seen_at, data AS transfer_json,
      (SELECT cataloged FROM catalog WHERE network = t.network AND catalog.token = t.token) AS cataloged_flag
    FROM transfers t
    WHERE scope ${isIn(scopes)} AND seen_at BETWEEN ${oldest} AND ${until}
      AND ${address} IN (from_address, to_address, token)
      ${channelIds === null ? part`` : decided}
    ORDER BY seen_at DESC, id DESC`;
  return { seen, oldest, involved };
}

type TransferRow = Omit<TransferHistory, 'deliveries' | 'decisions' | 'alerts' | 'own'> & {
  scope: number;
  total: number;
};

type Of<Row> = Row & { transferId: number };

async function transfers(
  sql: Sql,
  { guildId, txHash, ownScopes = [], network = null, channelId = null, skip = 0 }: HistoryQuery,
  now: number,
  max: number,
): Promise<{ total: number; first: TransferHistory[] }> {
  const here = alsoIs('guild_id', guildId);
  const inChannel =
    channelId === null
      ? part``
      : part` AND EXISTS (
          SELECT 1 FROM alerts WHERE transfer_id = t.id AND ${here} AND channel_id = ${channelId})`;
  // A transaction may hold thousands of transfers, so the guild's own are found before their data is read. Strangers
  // may have made most of them: what is significant comes first, what they may have made comes last.
  const found = await sql.all<TransferRow>`
    WITH those AS (
      SELECT id, worthless,
        coalesce((
          SELECT max(significant) FROM alerts WHERE transfer_id = t.id AND ${here}), 0) AS significant
      FROM transfers t WHERE substr(tx_hash, 3, 8) = substr(${txHash}, 3, 8) AND tx_hash = ${txHash}
        AND network = coalesce(${network}, network) AND (scope ${isIn(ownScopes)}
        OR EXISTS (SELECT 1 FROM decisions WHERE transfer_id = t.id AND ${here})
        OR EXISTS (SELECT 1 FROM alerts WHERE transfer_id = t.id AND ${here}))${inChannel})
    SELECT t.id, network, scope, count, reorganized AS reorganized_flag, seen_at, data AS transfer_json,
      (SELECT count(*) FROM those) AS total
    FROM (SELECT id, significant, worthless FROM those ORDER BY significant DESC, worthless, id LIMIT ${max} OFFSET ${skip}) AS shown
      JOIN transfers t ON t.id = shown.id ORDER BY shown.significant DESC, shown.worthless, t.id`;
  const ids = found.map(({ id }) => id);
  const deliveries = await deliveriesOf(sql, ids);
  const decisions = await decisionsOf(sql, ids, guildId);
  const alerts = await alertsOf(sql, ids, guildId, txHash, now);
  return {
    total: found[0]?.total ?? 0,
    first: found.map(({ total: _, scope, ...row }) => {
      const isOfIt = ({ transferId }: Of<object>) => transferId === row.id;
      return {
        ...row,
        deliveries: deliveries.filter(isOfIt),
        decisions: decisions.filter(isOfIt),
        alerts: alerts.filter(isOfIt),
        own: ownScopes.includes(scope),
      };
    }),
  };
}

const deliveriesOf = (sql: Sql, transferIds: readonly number[]) =>
  sql.all<Of<TransferHistory['deliveries'][number]>>`
    SELECT transfer_id, received, seen_at, last_at, project_id, address_type, direction FROM deliveries
    WHERE transfer_id ${isIn(transferIds)} ORDER BY seen_at, key`;

const decisionsOf = (sql: Sql, transferIds: readonly number[], guildId: string) =>
  sql.all<Of<RecordedDecision>>`
    SELECT d.transfer_id, d.subscription_id AS subscription, d.channel_id, d.outcome, l.name AS label, s.address
    FROM decisions d LEFT JOIN subscriptions s ON s.id = d.subscription_id AND s.guild_id = d.guild_id
      LEFT JOIN labels l ON l.guild_id = s.guild_id AND l.address = s.address
    WHERE d.transfer_id ${isIn(transferIds)} AND ${alsoIs('d.guild_id', guildId)} ORDER BY d.id`;

type Message = NonNullable<RecordedAlert['message']>;
type Channel = NonNullable<RecordedAlert['channel']>;

interface AlertRow extends Of<Omit<RecordedAlert, 'message' | 'channel' | 'collectingUntil' | 'dead'>>, Message {
  significant: boolean;
  batchId: number | null;
  channelState: Channel['state'] | null;
  channelDueAt: number;
  channelReason: string | null;
  deadReason: string | null;
  deadAt: number;
}

async function alertsOf(
  sql: Sql,
  transferIds: readonly number[],
  guildId: string,
  txHash: string,
  now: number,
): Promise<Of<RecordedAlert>[]> {
  const found = await sql.all<AlertRow>`
    SELECT a.transfer_id, a.channel_id, a.created_at, a.state, a.hold, a.due_at, a.significant AS significant_flag,
      a.warnings AS warnings_json, a.discarded_at,
      b.id AS batch_id, b.kind, b.digest_reason AS reason, b.attempts, b.frozen_at, b.sent_at, b.message_id,
      CASE WHEN b.kind = 'digest' THEN b.alert_count
        ELSE (SELECT count(*) FROM alerts o WHERE o.batch_id = b.id) END AS alerts,
      CASE WHEN b.kind = 'digest' THEN 1 ELSE (SELECT count(*) FROM alerts o JOIN transfers t ON t.id = o.transfer_id
        WHERE o.batch_id = b.id AND t.tx_hash = ${txHash}
          AND t.network = (SELECT network FROM transfers WHERE id = a.transfer_id)) END AS together,
      c.state AS channel_state, c.due_at AS channel_due_at, c.reason AS channel_reason,
      d.reason AS dead_reason, d.at AS dead_at
    FROM alerts a LEFT JOIN batches b ON b.id = a.batch_id LEFT JOIN channels c ON c.channel_id = a.channel_id
      LEFT JOIN dead_letters d ON d.id = (SELECT max(id) FROM dead_letters WHERE alert_id = a.id)
    WHERE a.transfer_id ${isIn(transferIds)} AND ${alsoIs('a.guild_id', guildId)} ORDER BY a.id`;
  const collecting = new Map<string, number | null>();
  for (const { channelId, significant } of found) {
    const lane = `${channelId} ${significant}`;
    if (!collecting.has(lane)) collecting.set(lane, await collectingUntil(sql, channelId, significant, now));
  }
  return found.map((row) => {
    const { kind, reason, attempts, frozenAt, sentAt, messageId, alerts, together, ...rest } = row;
    const { significant, batchId, channelState, channelDueAt, channelReason, deadReason, deadAt, ...alert } = rest;
    const message = { kind, reason, attempts, frozenAt, sentAt, messageId, alerts, together };
    return {
      ...alert,
      message: batchId === null ? null : message,
      channel: channelState && { state: channelState, dueAt: channelDueAt, reason: channelReason },
      collectingUntil: collecting.get(`${alert.channelId} ${significant}`)!,
      dead: deadReason === null ? null : { reason: deadReason, at: deadAt },
    };
  });
}
