import type { HistoryQuery, RecordedAlert, RecordedDecision, TransferHistory } from '../../domain/history.ts';
import { alsoIs, isIn, part, type Sql } from '../sql.ts';
import { collectingUntil } from './due.ts';

/** What `/why` reads about a transaction. */

type TransferRow = Omit<TransferHistory, 'deliveries' | 'decisions' | 'alerts' | 'own'> & {
  scope: number;
  total: number;
};

/** A row about one transfer. */
type Of<Row> = Row & { transferId: number };

/** What happened to a transaction's transfers that concern a guild: how many there are, and `max` of them. */
export async function transfers(
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
  // A transaction may hold thousands of transfers, so the guild's own are found before their data is read. Strangers may
  // have made most of them: what is significant comes first, what they may have made comes last.
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

/** An alert with its message, its channel and its dead letter; what is null of these tells that there is none. */
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
