import type { Database } from 'better-sqlite3';
import type { RecordedDecision, TransferHistory } from '../../domain/history.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { type RecordedAlertRow, toRecordedAlert } from '../sql/rows.ts';
import { collectingLookUp } from './due.ts';

/** What `/why` reads about a transaction. */

interface TransactionRow {
  txHash: string;
  transfers: number;
  /** SQLite returns `data` from the row with this minimum. */
  firstAlert: number;
  data: string;
  /** How many transactions there are. */
  total: number;
}

interface TransferRow {
  id: number;
  scope: number;
  count: number;
  reorganized: 0 | 1;
  seenAt: number;
  data: string;
}

/** What happened to single transfers. Every method stays within one guild. */
export function transferHistoryReader(db: Database) {
  // A transaction may hold thousands of transfers, so the guild's own are found before their data is read.
  const ofTransaction = db.prepare<
    { txHash: string; guildId: string; ownScope: number | null; max: number },
    TransferRow & { total: number }
  >(
    `WITH those AS MATERIALIZED (SELECT id FROM transfers t
       WHERE substr(tx_hash, 3, 8) = substr(@txHash, 3, 8) AND tx_hash = @txHash
         AND (scope IS @ownScope
         OR EXISTS (SELECT 1 FROM decisions WHERE transfer_id = t.id AND +guild_id = @guildId)
         OR EXISTS (SELECT 1 FROM alerts WHERE transfer_id = t.id AND guild_id = @guildId)))
     SELECT id, scope, count, reorganized, seen_at AS seenAt, data, (SELECT count(*) FROM those) AS total
     FROM transfers WHERE id IN (SELECT id FROM those ORDER BY id LIMIT @max) ORDER BY id`,
  );
  const deliveries = db.prepare<[number], TransferHistory['deliveries'][number]>(
    `SELECT received, seen_at AS seenAt, last_at AS lastAt, project_id AS projectId, address_type AS addressType, direction
     FROM deliveries WHERE transfer_id = ? ORDER BY seen_at, key`,
  );
  const decisions = db.prepare<[number, string], RecordedDecision>(
    `SELECT d.subscription_id AS subscription, d.channel_id AS channelId, d.outcome, l.name AS label, s.address
     FROM decisions d LEFT JOIN subscriptions s ON s.id = d.subscription_id AND s.guild_id = d.guild_id
       LEFT JOIN labels l ON l.guild_id = s.guild_id AND l.address = s.address
     WHERE d.transfer_id = ? AND d.guild_id = ? ORDER BY d.id`,
  );
  // A transfer may be posted in a thousand channels, each with twenty thousand others. This must not read them all.
  const alerts = db.prepare<[string, number, string], RecordedAlertRow>(
    `SELECT a.channel_id AS channelId, a.created_at AS createdAt, a.state, a.hold, a.due_at AS dueAt, a.warnings,
       a.discarded_at AS discardedAt, a.matches,
       b.id AS batchId, b.kind, b.digest_reason AS reason, b.attempts, b.frozen_at AS frozenAt, b.sent_at AS sentAt,
       b.message_id AS messageId,
       coalesce(b.alert_count, (SELECT count(*) FROM alerts o WHERE o.batch_id = b.id)) AS alerts,
       CASE WHEN b.kind = 'digest' THEN 1 ELSE (SELECT count(*) FROM alerts o JOIN transfers t ON t.id = o.transfer_id
         WHERE o.batch_id = b.id AND t.tx_hash = ?) END AS together,
       c.state AS channelState, c.due_at AS channelDueAt, c.reason AS channelReason,
       (SELECT reason FROM dead_letters WHERE alert_id = a.id ORDER BY id DESC LIMIT 1) AS deadReason,
       (SELECT at FROM dead_letters WHERE alert_id = a.id ORDER BY id DESC LIMIT 1) AS deadAt
     FROM alerts a LEFT JOIN batches b ON b.id = a.batch_id LEFT JOIN channels c ON c.channel_id = a.channel_id
     WHERE a.transfer_id = ? AND a.guild_id = ? ORDER BY a.id`,
  );
  const ofMessage = db.prepare<[string, string, number], TransactionRow>(
    `SELECT t.tx_hash AS txHash, count(*) AS transfers, min(a.id) AS firstAlert, t.data, count(*) OVER () AS total
     FROM batches b JOIN alerts a ON a.batch_id = b.id JOIN transfers t ON t.id = a.transfer_id
     WHERE b.reference = ? AND a.guild_id = ? GROUP BY t.tx_hash ORDER BY firstAlert LIMIT ?`,
  );
  const collectingUntil = collectingLookUp(db);

  function historyOf(guildId: string, txHash: string, row: TransferRow, own: boolean, now: number): TransferHistory {
    return {
      transfer: JSON.parse(row.data) as Transfer,
      count: row.count,
      reorganized: row.reorganized === 1,
      seenAt: row.seenAt,
      own,
      deliveries: deliveries.all(row.id),
      decisions: decisions.all(row.id, guildId),
      alerts: alerts
        .all(txHash, row.id, guildId)
        .map((alert) => toRecordedAlert(alert, collectingUntil(alert.channelId, now))),
    };
  }

  return {
    /** Also includes transfers of the guild's own project (`ownScope`) that concern none of its subscriptions. */
    transfers(guildId: string, txHash: string, ownScope: number | null, now: number, max: number) {
      const rows = ofTransaction.all({ guildId, txHash, ownScope, max });
      const first = rows.map((row) => historyOf(guildId, txHash, row, row.scope === ownScope, now));
      return { total: rows[0]?.total ?? 0, first };
    },

    transactionsOfMessage(guildId: string, reference: string, max: number) {
      const rows = ofMessage.all(reference, guildId, max);
      const first = rows.map(({ txHash, transfers, data }) => {
        return { txHash, transfers, transfer: JSON.parse(data) as Transfer };
      });
      return { total: rows[0]?.total ?? 0, first };
    },
  };
}
