import type { RecordedDecision, TransferHistory } from '../../domain/history.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { type RecordedAlertRow, toRecordedAlert } from '../sql/rows.ts';
import type { Connection, Statements } from './connection.ts';
import { collectingUntil } from './due.ts';

/** What `/why` reads about a transaction. */

interface TransferRow {
  id: number;
  scope: number;
  count: number;
  reorganized: boolean;
  seenAt: number;
  data: string;
  /** How many transfers there are. */
  total: number;
}

/** A row about one transfer. */
type Of<Row> = Row & { transferId: number };

/** What happened to single transfers. Every method stays within one guild. */
export function transferHistoryReader(db: Connection) {
  return {
    /** Also includes transfers of the guild's own project (`ownScope`) that concern none of its subscriptions. */
    transfers: (guildId: string, txHash: string, ownScope: number | null, now: number, max: number) =>
      db.read(async (sql) => {
        const rows = await transfersOf(sql, guildId, txHash, ownScope, max);
        const first = await historiesOf(sql, guildId, txHash, rows, now);
        return {
          total: rows[0]?.total ?? 0,
          first: first.map((history, index) => ({ ...history, own: rows[index]!.scope === ownScope })),
        };
      }),

    async transactionsOfMessage(guildId: string, reference: string, max: number) {
      const rows = await db.reads.all<{ txHash: string; transfers: number; data: string; total: number }>(
        `SELECT t.tx_hash AS "txHash", count(*) AS transfers, (array_agg(t.data ORDER BY a.id))[1] AS data,
           count(*) OVER () AS total
         FROM batches b JOIN alerts a ON a.batch_id = b.id JOIN transfers t ON t.id = a.transfer_id
         WHERE b.reference = $1 AND a.guild_id = $2 GROUP BY t.tx_hash ORDER BY min(a.id) LIMIT $3`,
        reference,
        guildId,
        max,
      );
      const first = rows.map(({ txHash, transfers, data }) => ({
        txHash,
        transfers,
        transfer: JSON.parse(data) as Transfer,
      }));
      return { total: rows[0]?.total ?? 0, first };
    },
  };
}

/** A transaction may hold thousands of transfers, so the guild's own are found before their data is read. */
const transfersOf = (sql: Statements, guildId: string, txHash: string, ownScope: number | null, max: number) =>
  sql.all<TransferRow>(
    `WITH those AS MATERIALIZED (SELECT id FROM transfers t WHERE tx_hash = $2 AND (scope = $3
         OR EXISTS (SELECT 1 FROM decisions WHERE transfer_id = t.id AND guild_id = $1)
         OR EXISTS (SELECT 1 FROM alerts WHERE transfer_id = t.id AND guild_id = $1)))
     SELECT id, scope, count, reorganized, seen_at AS "seenAt", data, (SELECT count(*) FROM those) AS total
     FROM transfers WHERE id IN (SELECT id FROM those ORDER BY id LIMIT $4) ORDER BY id`,
    guildId,
    txHash,
    ownScope,
    max,
  );

async function historiesOf(
  sql: Statements,
  guildId: string,
  txHash: string,
  rows: readonly TransferRow[],
  now: number,
): Promise<Omit<TransferHistory, 'own'>[]> {
  const ids = rows.map(({ id }) => id);
  const deliveries = byTransfer(await deliveriesOf(sql, ids));
  const decisions = byTransfer(await decisionsOf(sql, ids, guildId));
  const alertRows = await alertsOf(sql, ids, guildId, txHash);
  const alerts = Map.groupBy(alertRows, ({ transferId }) => transferId);
  const collecting = new Map<string, number | null>();
  for (const channelId of new Set(alertRows.map((alert) => alert.channelId)))
    collecting.set(channelId, await collectingUntil(sql, channelId, now));
  return rows.map(({ id, count, reorganized, seenAt, data }) => ({
    transfer: JSON.parse(data) as Transfer,
    count,
    reorganized,
    seenAt,
    deliveries: deliveries.get(id) ?? [],
    decisions: decisions.get(id) ?? [],
    alerts: (alerts.get(id) ?? []).map((alert) => toRecordedAlert(alert, collecting.get(alert.channelId) ?? null)),
  }));
}

const byTransfer = <Row>(rows: readonly Of<Row>[]): Map<number, Omit<Of<Row>, 'transferId'>[]> =>
  new Map(
    [...Map.groupBy(rows, ({ transferId }) => transferId)].map(([id, all]) => [
      id,
      all.map(({ transferId: _, ...row }) => row),
    ]),
  );

const deliveriesOf = (sql: Statements, transferIds: readonly number[]) =>
  sql.all<Of<TransferHistory['deliveries'][number]>>(
    `SELECT transfer_id AS "transferId", received, seen_at AS "seenAt", last_at AS "lastAt", project_id AS "projectId",
       address_type AS "addressType", direction
     FROM deliveries WHERE transfer_id = ANY($1::bigint[]) ORDER BY seen_at, key`,
    transferIds,
  );

const decisionsOf = (sql: Statements, transferIds: readonly number[], guildId: string) =>
  sql.all<Of<RecordedDecision>>(
    `SELECT d.transfer_id AS "transferId", d.subscription_id AS subscription, d.channel_id AS "channelId", d.outcome,
       l.name AS label, s.address
     FROM decisions d LEFT JOIN subscriptions s ON s.id = d.subscription_id AND s.guild_id = d.guild_id
       LEFT JOIN labels l ON l.guild_id = s.guild_id AND l.address = s.address
     WHERE d.transfer_id = ANY($1::bigint[]) AND d.guild_id = $2 ORDER BY d.id`,
    transferIds,
    guildId,
  );

const alertsOf = (sql: Statements, transferIds: readonly number[], guildId: string, txHash: string) =>
  sql.all<Of<RecordedAlertRow>>(
    `SELECT a.transfer_id AS "transferId", a.channel_id AS "channelId", a.created_at AS "createdAt", a.state, a.hold,
       a.due_at AS "dueAt", a.warnings, a.discarded_at AS "discardedAt", a.matches,
       b.id AS "batchId", b.kind, b.digest_reason AS reason, b.attempts, b.frozen_at AS "frozenAt",
       b.sent_at AS "sentAt", b.message_id AS "messageId",
       coalesce(b.alert_count, (SELECT count(*) FROM alerts o WHERE o.batch_id = b.id)) AS alerts,
       CASE WHEN b.kind = 'digest' THEN 1 ELSE (SELECT count(*) FROM alerts o JOIN transfers t ON t.id = o.transfer_id
         WHERE o.batch_id = b.id AND t.tx_hash = $3) END AS together,
       c.state AS "channelState", c.due_at AS "channelDueAt", c.reason AS "channelReason",
       d.reason AS "deadReason", d.at AS "deadAt"
     FROM alerts a LEFT JOIN batches b ON b.id = a.batch_id LEFT JOIN channels c ON c.channel_id = a.channel_id
       LEFT JOIN LATERAL (SELECT reason, at FROM dead_letters WHERE alert_id = a.id ORDER BY id DESC LIMIT 1) d ON TRUE
     WHERE a.transfer_id = ANY($1::bigint[]) AND a.guild_id = $2 ORDER BY a.id`,
    transferIds,
    guildId,
    txHash,
  );
