import type { Database } from 'better-sqlite3';
import type { Alert, RenderedAlert } from '../../domain/alert.ts';
import type { Transfer } from '../../domain/transfer.ts';
import {
  ALERT_COLUMNS,
  type AlertRow,
  byTransaction,
  MATCHED_COLUMNS,
  type MatchedSubscription,
  toAlert,
} from '../sql/alert-rows.ts';

/**
 * Creates a check whether alerts are still as they were rendered. Between reading and freezing them, the router may
 * have counted another equal transfer, which the message would never show. With `waiting`, they must also still wait.
 */
export function renderedCheck(db: Database) {
  // 1: only waiting alerts match; 0: alerts in any state do.
  const holding = db.prepare<[string, 0 | 1], { n: number }>(
    `SELECT count(*) AS n FROM json_each(?) rendered CROSS JOIN alerts a ON a.id = rendered.value ->> 'id'
       JOIN transfers t ON t.id = a.transfer_id
     WHERE (a.state = 'waiting') >= ? AND t.count = rendered.value ->> 'count'
       AND t.reorganized = rendered.value ->> 'reorganized'`,
  );
  return (alerts: readonly RenderedAlert[], waiting: boolean): boolean => {
    const expected = alerts.map(({ id, count, reorganized }) => ({ id, count, reorganized: reorganized ? 1 : 0 }));
    return holding.get(JSON.stringify(expected), waiting ? 1 : 0)!.n === alerts.length;
  };
}

/** Reads alerts in the form in which they are rendered. */
export function alertReader(db: Database) {
  const subscription = db.prepare<[number], MatchedSubscription>(
    `SELECT ${MATCHED_COLUMNS} FROM subscriptions WHERE id = ?`,
  );
  const labelsOf = db.prepare<[string, string | null, string | null, string | null], { address: string; name: string }>(
    'SELECT address, name FROM labels WHERE guild_id = ? AND address IN (?, ?, ?)',
  );
  const ofBatch = db.prepare<[number], AlertRow>(
    `SELECT ${ALERT_COLUMNS} FROM alerts a JOIN transfers t ON t.id = a.transfer_id WHERE a.batch_id = ?
     ORDER BY a.due_at, a.id`,
  );

  const idsOfBatch = db
    .prepare<[number], number>('SELECT id FROM alerts WHERE batch_id = ? ORDER BY due_at, id')
    .pluck();
  const byId = db.prepare<[string], AlertRow>(
    `SELECT ${ALERT_COLUMNS} FROM json_each(?) asked CROSS JOIN alerts a ON a.id = asked.value
       JOIN transfers t ON t.id = a.transfer_id ORDER BY asked.key`,
  );

  function claimed(row: AlertRow): Alert {
    const labels = ({ from, to, token }: Transfer): Alert['labels'] =>
      Object.fromEntries(labelsOf.all(row.guildId, from, to, token).map(({ address, name }) => [address, name]));
    return toAlert(row, (id) => subscription.get(id), labels);
  }

  return {
    claimed,
    ofBatch: (batchId: number) => byTransaction(ofBatch.all(batchId).map(claimed)),
    idsOfBatch: (batchId: number): number[] => idsOfBatch.all(batchId),
    byId: (ids: number[]): Alert[] => byId.all(JSON.stringify(ids)).map(claimed),
  };
}
