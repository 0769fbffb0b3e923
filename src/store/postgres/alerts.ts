import type { Alert, RenderedAlert } from '../../domain/alert.ts';
import {
  ALERT_COLUMNS,
  type AlertRow,
  byTransaction,
  MATCHED_COLUMNS,
  type MatchedSubscription,
  matchesOf,
  toAlert,
} from '../sql/alert-rows.ts';
import type { Statements } from './connection.ts';

/** Alerts with their transfers, in the form in which {@link readAlerts} expects the rest of the statement. */
const SELECT = `SELECT ${ALERT_COLUMNS} FROM alerts a JOIN transfers t ON t.id = a.transfer_id`;

/** Reads alerts in the form in which they are rendered; `rest`: what follows `FROM alerts a JOIN transfers t`. */
export async function readAlerts(sql: Statements, rest: string, ...values: readonly unknown[]): Promise<Alert[]> {
  const rows = await sql.all<AlertRow>(`${SELECT} ${rest}`, ...values);
  if (rows.length === 0) return [];
  const subscriptions = await subscriptionsOf(sql, rows);
  const labels = await labelsOf(sql, rows);
  return rows.map((row) =>
    toAlert(
      row,
      (id) => subscriptions.get(id),
      () => labels.get(row.id) ?? {},
    ),
  );
}

async function subscriptionsOf(sql: Statements, rows: readonly AlertRow[]): Promise<Map<number, MatchedSubscription>> {
  const ids = new Set(rows.flatMap((row) => matchesOf(row).map(({ subscription }) => subscription)));
  const found = await sql.all<MatchedSubscription & { id: number }>(
    `SELECT id, ${MATCHED_COLUMNS} FROM subscriptions WHERE id = ANY($1::bigint[])`,
    [...ids],
  );
  return new Map(found.map(({ id, ...subscription }) => [id, subscription]));
}

/** The guild's own names of each alert's addresses. */
async function labelsOf(sql: Statements, rows: readonly AlertRow[]): Promise<Map<number, Alert['labels']>> {
  const found = await sql.all<{ id: number; address: string; name: string }>(
    `SELECT a.id, l.address, l.name FROM alerts a JOIN transfers t ON t.id = a.transfer_id
       JOIN labels l ON l.guild_id = a.guild_id AND l.address IN (t.from_address, t.to_address, t.token)
     WHERE a.id = ANY($1::bigint[])`,
    rows.map(({ id }) => id),
  );
  const named = [...Map.groupBy(found, ({ id }) => id)];
  return new Map(named.map(([id, all]) => [id, Object.fromEntries(all.map(({ address, name }) => [address, name]))]));
}

/** Alerts by their ids, in that order; those that are gone are left out. */
export const alertsById = (sql: Statements, ids: readonly number[]): Promise<Alert[]> =>
  readAlerts(sql, 'WHERE a.id = ANY($1::bigint[]) ORDER BY array_position($1::bigint[], a.id)', ids);

/** The alerts of a message, those of one transaction together. */
export const alertsOfBatch = async (sql: Statements, batchId: number): Promise<Alert[]> =>
  byTransaction(await readAlerts(sql, 'WHERE a.batch_id = $1 ORDER BY a.due_at, a.id', batchId));

/**
 * Whether alerts are still as they were rendered. Between reading and freezing them, the router may have counted another
 * equal transfer, which the message would never show. With `waiting`, they must also still wait.
 */
export async function areAsRendered(
  sql: Statements,
  alerts: readonly RenderedAlert[],
  waiting: boolean,
): Promise<boolean> {
  const found = await sql.get<{ n: number }>(
    `SELECT count(*) AS n
     FROM unnest($1::bigint[], $2::bigint[], $3::boolean[]) AS rendered (id, count, reorganized)
       JOIN alerts a ON a.id = rendered.id JOIN transfers t ON t.id = a.transfer_id
     WHERE (a.state = 'waiting' OR NOT $4::boolean) AND t.count = rendered.count
       AND t.reorganized = rendered.reorganized`,
    alerts.map(({ id }) => id),
    alerts.map(({ count }) => count),
    alerts.map(({ reorganized }) => reorganized),
    waiting,
  );
  return found!.n === alerts.length;
}
