import { mayHold } from '../../domain/hold.ts';
import type { SeenDelivery } from '../../domain/identity.ts';
import {
  addressesOf,
  type RoutingContext,
  type RoutingQuery,
  type RoutingResult,
  type WatchedTransfer,
  watchedQueries,
} from '../../domain/routing.ts';
import { type DeliveryRow, type TransferRow, toSeenDelivery, toSeenTransfer } from '../sql/transfer-rows.ts';
import type { Connection, Statements } from './connection.ts';
import { passedAt, readKnowledge } from './guard.ts';
import { storeRouted } from './routed.ts';
import { addressKey, countWatchers, watchersOf } from './watchers.ts';

type Watched = WatchedTransfer & RoutingQuery;

/** What was seen, and the step from the inbox to the outbox. */
export function routingTable(db: Connection) {
  return {
    context: (queries: RoutingQuery[], now: number) => db.read((sql) => readContext(sql, queries, now)),
    /** After a failure of the server's power the deliveries are still in the inbox and are routed again. */
    commit: (routed: RoutingResult) => db.writeUnsynced((sql) => storeRouted(sql, routed)),
  };
}

async function readContext(sql: Statements, queries: RoutingQuery[], now: number): Promise<RoutingContext> {
  const transfers = await seenTransfers(sql, queries);
  const known = new Set(transfers.map(({ key }) => key));
  const { watched, covered } = await newTransfers(sql, queries, known);
  const watchers = watched.flatMap((one) => one.watchers);
  const guildIds = [...new Set(watchers.map(({ guildId }) => guildId))];
  const held = watchers.filter(mayHold);
  return {
    covered,
    transfers,
    deliveries: await seenDeliveries(sql, transfers, queries),
    watched: watched.map(({ transferKey, watchers: all, passedAt: times }) => ({
      transferKey,
      watchers: all,
      passedAt: times,
    })),
    mutes: await sql.all<RoutingContext['mutes'][number]>(
      'SELECT guild_id AS "guildId", token FROM token_mutes WHERE guild_id = ANY($1::text[]) AND until > $2',
      guildIds,
      now,
    ),
    timezones: await sql.all<RoutingContext['timezones'][number]>(
      'SELECT guild_id AS "guildId", timezone FROM guilds WHERE guild_id = ANY($1::text[])',
      held.map(({ guildId }) => guildId),
    ),
    knowledge: await readKnowledge(sql, watched, now),
    projects: await sql.all<RoutingContext['projects'][number]>(
      'SELECT id AS scope, project_id AS "projectId" FROM projects WHERE id = ANY($1::bigint[])',
      watched.map(({ scope }) => scope),
    ),
    stats: await sql.all<RoutingContext['stats'][number]>(
      `SELECT subscription_id AS subscription, events, last_event_at AS "lastEventAt", gap_ms AS "gapMs"
       FROM activity_stats WHERE subscription_id = ANY($1::bigint[])`,
      watchers.map(({ id }) => id),
    ),
  };
}

async function seenTransfers(sql: Statements, queries: readonly RoutingQuery[]) {
  const rows = await sql.all<TransferRow>(
    `SELECT t.id, encode(k.key, 'hex') AS key, scope, seen_at AS "seenAt", count, reorganized, data
     FROM transfer_keys k JOIN transfers t ON t.id = k.transfer_id
     WHERE k.key = ANY(ARRAY(SELECT decode(asked, 'hex') FROM unnest($1::text[]) AS asked))`,
    queries.map(({ transferKey }) => transferKey),
  );
  return rows.map(toSeenTransfer);
}

async function seenDeliveries(
  sql: Statements,
  transfers: readonly { id: number }[],
  queries: readonly RoutingQuery[],
): Promise<SeenDelivery[]> {
  if (transfers.length === 0) return [];
  const rows = await sql.all<DeliveryRow>(
    `SELECT encode(d.key, 'hex') AS key, encode(t.key, 'hex') AS "transferKey", d.count,
       unacknowledged, answered_at AS "ackedAt", received, d.seen_at AS "seenAt", first_minute AS "firstMinute",
       ids, places
     FROM deliveries d JOIN transfers t ON t.id = d.transfer_id
     WHERE t.id = ANY($1::bigint[]) AND d.key = ANY(ARRAY(SELECT decode(k, 'hex') FROM unnest($2::text[]) AS k))`,
    transfers.map(({ id }) => id),
    queries.map(({ deliveryKey }) => deliveryKey),
  );
  return rows.map(toSeenDelivery);
}

/** New transfers that somebody watches; see `watchedQueries`. */
async function newTransfers(
  sql: Statements,
  queries: readonly RoutingQuery[],
  known: ReadonlySet<string>,
): Promise<{ watched: Watched[]; covered: number }> {
  const fresh = queries.filter(({ transferKey }) => !known.has(transferKey));
  const counts = await countWatchers(sql, [...new Set(fresh.flatMap(addressesOf))]);
  const reachOf = (query: RoutingQuery) =>
    addressesOf(query).reduce((sum, address) => sum + (counts.get(addressKey(address, query.scope)) ?? 0), 0);
  const { watched, covered } = watchedQueries(queries, (key) => known.has(key), reachOf);
  return { watched: await withWatchers(sql, watched), covered };
}

async function withWatchers(sql: Statements, queries: readonly RoutingQuery[]): Promise<Watched[]> {
  if (queries.length === 0) return [];
  const addresses = [...new Set(queries.flatMap(addressesOf))];
  const watchers = await watchersOf(sql, addresses, [...new Set(queries.map(({ scope }) => scope))]);
  const byKey = Map.groupBy(watchers, ({ address, scope }) => addressKey(address, scope));
  const asked = queries.map(({ scope, at, transfer }) => ({ scope, at, block: transfer.blockNumber }));
  const times = await passedAt(sql, asked);
  return queries.map((query, index) => ({
    ...query,
    watchers: addressesOf(query)
      .flatMap((address) => byKey.get(addressKey(address, query.scope)) ?? [])
      .map(({ scope: _, ...watcher }) => watcher),
    passedAt: times[index]!,
  }));
}
