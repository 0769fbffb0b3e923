import type { SeenTransfer } from '../../domain/identity.ts';
import type { RoutingResult, StoredDelivery } from '../../domain/routing.ts';
import { alreadyRouted } from '../sql/already-routed.ts';
import { withoutRemoved } from '../sql/removed-subscriptions.ts';
import { toDeliveryRow } from '../sql/transfer-rows.ts';
import { asJson, type Statements } from './connection.ts';
import { requestChanges } from './edits.ts';
import { keepLearned } from './guard.ts';
import { addChannels } from './notices.ts';
import { addPartitions, firstIdOf, newId } from './partitions.ts';

/** Stores what was decided, within one transaction; returns the channels in which sent messages must change. */
export async function storeRouted(sql: Statements, result: RoutingResult): Promise<string[]> {
  await moveToQuarantine(sql, result.quarantined);
  await takeFromInbox(sql, result);
  const routed = withoutRemoved(result, await putStats(sql, result.stats));
  const { now } = routed;
  const ids = await putTransfers(sql, routed.transfers);
  const withId = <Row extends { transferKey: string }>(rows: readonly Row[]) =>
    rows.map((row) => ({ ...row, transferId: ids.get(row.transferKey)! }));
  await putDeliveries(sql, withId(routed.deliveries));
  await addAlerts(sql, withId(routed.alerts), now);
  await addDecisions(sql, withId(routed.decisions));
  await keepLearned(sql, routed.learned);
  return requestChanges(
    sql,
    routed.changed.map((key) => ids.get(key)!),
    now,
  );
}

const TRANSFER = `json_to_recordset($1::json) AS t (id bigint, key text, scope bigint, "txHash" text, "seenAt" bigint,
  count bigint, reorganized boolean, data text, "from" text, "to" text, token text, kind text,
  "tokenSymbol" text, "tokenType" text)`;

/** Inserts or updates transfers; returns their ids by their keys. */
async function putTransfers(sql: Statements, transfers: readonly SeenTransfer[]): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  const note = (rows: readonly { id: number; key: string }[]) => {
    for (const { id, key } of rows) ids.set(key, id);
  };
  const known = transfers.filter(({ id }) => id !== null);
  if (known.length > 0) {
    // A repeat and a twin usually change nothing.
    const stored = await sql.all<{ id: number; key: string }>(
      `WITH given AS MATERIALIZED (SELECT * FROM ${TRANSFER}),
         changed AS (
           UPDATE transfers SET count = t.count, reorganized = t.reorganized, data = t.data,
             from_address = t."from", to_address = t."to", token = t.token, kind = t.kind,
             token_symbol = t."tokenSymbol", token_type = t."tokenType"
           FROM given t WHERE transfers.id = t.id AND transfers.key = decode(t.key, 'hex')
             AND (transfers.count, transfers.reorganized, transfers.data)
               IS DISTINCT FROM (t.count, t.reorganized, t.data))
       SELECT transfers.id, t.key FROM given t JOIN transfers ON transfers.id = t.id AND transfers.key = decode(t.key, 'hex')`,
      asJson(known.map(toRow)),
    );
    note(stored);
  }
  // Rows may have been deleted since the router read them.
  const missing = transfers.filter(({ key }) => !ids.has(key));
  if (missing.length > 0) {
    await addPartitions(
      sql,
      missing.map(({ seenAt }) => firstIdOf(seenAt)),
    );
    const added = await sql.all<{ id: number; key: string }>(
      `INSERT INTO transfers (id, key, scope, tx_hash, seen_at, count, reorganized, data, from_address, to_address,
         token, kind, token_symbol, token_type)
       SELECT ${newId('"seenAt"')}, decode(key, 'hex'), scope, "txHash", "seenAt", count, reorganized, data,
         "from", "to", token, kind, "tokenSymbol", "tokenType" FROM ${TRANSFER} RETURNING id, encode(key, 'hex') AS key`,
      asJson(missing.map(toRow)),
    );
    note(added);
  }
  return ids;
}

function toRow({ transfer, ...seen }: SeenTransfer) {
  const { txHash, from, to, token, kind, tokenSymbol, tokenType } = transfer;
  return { ...seen, data: JSON.stringify(transfer), txHash, from, to, token, kind, tokenSymbol, tokenType };
}

async function putDeliveries(sql: Statements, deliveries: readonly (StoredDelivery & { transferId: number })[]) {
  if (deliveries.length === 0) return;
  const rows = deliveries.map(({ transferId, ...delivery }) => ({ transferId, ...toDeliveryRow(delivery) }));
  await sql.run(
    `INSERT INTO deliveries (transfer_id, key, count, unacknowledged, answered_at, received, seen_at, project_id,
       address_type, direction, last_at, first_minute, ids, places)
     SELECT "transferId", decode(key, 'hex'), count, unacknowledged, "ackedAt", received, "seenAt", "projectId",
       "addressType", direction, "lastAt", "firstMinute", ids, places
     FROM json_to_recordset($1::json) AS d ("transferId" bigint, key text, count bigint, unacknowledged boolean,
       "ackedAt" bigint, received bigint, "seenAt" bigint, "projectId" text, "addressType" text, direction text,
       "lastAt" bigint, "firstMinute" text, ids text, places text)
     ON CONFLICT (transfer_id, key) DO UPDATE SET count = excluded.count, unacknowledged = excluded.unacknowledged,
       answered_at = excluded.answered_at, received = excluded.received, last_at = excluded.last_at,
       first_minute = excluded.first_minute, ids = excluded.ids, places = excluded.places`,
    asJson(rows),
  );
}

async function addAlerts(
  sql: Statements,
  alerts: readonly (RoutingResult['alerts'][number] & { transferId: number })[],
  now: number,
): Promise<void> {
  if (alerts.length === 0) return;
  await addChannels(sql, new Map(alerts.map(({ channelId, guildId }) => [channelId, guildId])));
  const rows = alerts.map(({ matches, warnings, ...alert }) => ({
    ...alert,
    matches: JSON.stringify(matches),
    warnings: JSON.stringify(warnings),
  }));
  await sql.run(
    `INSERT INTO alerts (transfer_id, inbox_id, guild_id, channel_id, matches, warnings, hold, due_at, created_at)
     SELECT "transferId", "inboxId", "guildId", "channelId", matches, warnings, hold, "dueAt", $2
     FROM json_to_recordset($1::json) AS a ("transferId" bigint, "inboxId" bigint, "guildId" text, "channelId" text,
       matches text, warnings text, hold text, "dueAt" bigint)`,
    asJson(rows),
    now,
  );
}

async function addDecisions(
  sql: Statements,
  decisions: readonly (RoutingResult['decisions'][number] & { transferId: number })[],
): Promise<void> {
  if (decisions.length === 0) return;
  await sql.run(
    `INSERT INTO decisions (transfer_id, guild_id, channel_id, subscription_id, outcome, address, at)
     SELECT "transferId", "guildId", "channelId", subscription, outcome, address, at
     FROM json_to_recordset($1::json) AS d ("transferId" bigint, "guildId" text, "channelId" text, subscription bigint,
       outcome text, address text, at bigint)`,
    asJson(decisions),
  );
}

/** An event ends a silence. Returns the subscriptions that were removed since the router read them. */
async function putStats(sql: Statements, stats: RoutingResult['stats']): Promise<Set<number>> {
  const latest = new Map(stats.map((one) => [one.subscription, one]));
  if (latest.size === 0) return new Set();
  const stored = await sql.all<{ id: number }>(
    `INSERT INTO activity_stats (subscription_id, events, last_event_at, gap_ms)
     SELECT s.id, n.events, n."lastEventAt", n."gapMs" FROM json_to_recordset($1::json)
       AS n (subscription bigint, events bigint, "lastEventAt" bigint, "gapMs" bigint)
       JOIN subscriptions s ON s.id = n.subscription
     ON CONFLICT (subscription_id) DO UPDATE SET events = excluded.events, last_event_at = excluded.last_event_at,
       gap_ms = excluded.gap_ms, silence_reported_at = NULL
     RETURNING subscription_id AS id`,
    asJson([...latest.values()]),
  );
  for (const { id } of stored) latest.delete(id);
  return new Set(latest.keys());
}

async function moveToQuarantine(sql: Statements, quarantined: RoutingResult['quarantined']): Promise<void> {
  if (quarantined.length === 0) return;
  await sql.run(
    `INSERT INTO quarantine (scope, received_at, reason, answered_at, body, identity)
     SELECT scope, received_at, q.reason, coalesce(q."ackedAt", answered_at), body, identity
     FROM json_to_recordset($1::json) AS q (id bigint, reason text, "ackedAt" bigint)
       JOIN inbox ON inbox.id = q.id ORDER BY inbox.id`,
    asJson(quarantined),
  );
}

/**
 * Takes deliveries out of the inbox. If one is no longer there, its server was erased, or an earlier commit has stored
 * this already, although its response was lost: what was decided since counts it twice.
 */
async function takeFromInbox(sql: Statements, { done, quarantined }: RoutingResult): Promise<void> {
  const ids = [...done, ...quarantined.map(({ id }) => id)];
  const taken = await sql.run('DELETE FROM inbox WHERE id = ANY($1::bigint[])', ids);
  if (taken < ids.length) throw alreadyRouted();
}
