import {
  MOST_REACHED,
  type RoutingContext,
  type RoutingQuery,
  type RoutingResult,
  type StoredDelivery,
  type WatchedTransfer,
} from '../../domain/routing.ts';
import { mayHold } from '../../domain/schedule.ts';
import type { Connection, Statements } from './connection.ts';
import { passedAt, readKnowledge } from './guard.ts';
import { storeRouted } from './routed.ts';
import { countWatchers, placeOf, watchersOf } from './watchers.ts';

type SeenTransfers = RoutingContext['transfers'];
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
  const { watched, answered } = await newTransfers(sql, queries, known);
  const watchers = watched.flatMap((one) => one.watchers);
  const guildIds = [...new Set(watchers.map(({ guildId }) => guildId))];
  const held = watchers.filter(mayHold);
  return {
    answered,
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

async function seenTransfers(sql: Statements, queries: readonly RoutingQuery[]): Promise<SeenTransfers> {
  const rows = await sql.all<Omit<SeenTransfers[number], 'transfer'> & { data: string }>(
    `SELECT t.id, encode(k.key, 'hex') AS key, scope, seen_at AS "seenAt", count, bodies, reorganized, data
     FROM transfer_keys k JOIN transfers t ON t.id = k.transfer_id
     WHERE k.key = ANY(ARRAY(SELECT decode(asked, 'hex') FROM unnest($1::text[]) AS asked))`,
    queries.map(({ transferKey }) => transferKey),
  );
  return rows.map(({ data, ...row }) => ({
    ...row,
    transfer: JSON.parse(data) as SeenTransfers[number]['transfer'],
  }));
}

async function seenDeliveries(
  sql: Statements,
  transfers: SeenTransfers,
  queries: readonly RoutingQuery[],
): Promise<StoredDelivery[]> {
  if (transfers.length === 0) return [];
  const rows = await sql.all<
    Omit<StoredDelivery, 'minute' | 'names'> & { minute: string | null; names: string | null }
  >(
    `SELECT encode(d.key, 'hex') AS key, encode(t.key, 'hex') AS "transferKey", d.count, owed,
       answered_at AS "answeredAt", received, d.seen_at AS "seenAt", project_id AS "projectId",
       address_type AS "addressType", direction, last_at AS "lastAt", minute, names
     FROM deliveries d JOIN transfers t ON t.id = d.transfer_id
     WHERE t.id = ANY($1::bigint[]) AND d.key = ANY(ARRAY(SELECT decode(k, 'hex') FROM unnest($2::text[]) AS k))`,
    transfers.map(({ id }) => id),
    queries.map(({ deliveryKey }) => deliveryKey),
  );
  return rows.map(({ minute, names, ...row }) => ({
    ...row,
    minute: minute === null ? null : (JSON.parse(minute) as StoredDelivery['minute']),
    names: names === null ? [] : (JSON.parse(names) as string[]),
  }));
}

/**
 * New transfers that somebody watches, until they concern too many subscriptions; `answered`: how many queries that
 * covers.
 */
async function newTransfers(
  sql: Statements,
  queries: readonly RoutingQuery[],
  known: ReadonlySet<string>,
): Promise<{ watched: Watched[]; answered: number }> {
  const fresh = firstOfEach(queries).filter(({ query }) => !known.has(query.transferKey));
  const counts = await countWatchers(sql, [...new Set(fresh.flatMap(({ query }) => addressesOf(query)))]);
  let reached = 0;
  let answered = queries.length;
  const covered: RoutingQuery[] = [];
  for (const { query, index } of fresh) {
    const around = addressesOf(query).map((address) => counts.get(placeOf(address, query.scope)) ?? 0);
    const here = around.reduce((sum, count) => sum + count, 0);
    reached += here;
    if (reached > MOST_REACHED && index > 0) {
      answered = index;
      break;
    }
    if (here > 0) covered.push(query);
  }
  return { watched: await withWatchers(sql, covered), answered };
}

/** The first query of each transfer, with its place. */
const firstOfEach = (queries: readonly RoutingQuery[]) =>
  [
    ...new Map(queries.map((query, index) => [query.transferKey, { query, index }] as const).toReversed()).values(),
  ].toSorted((one, other) => one.index - other.index);

const addressesOf = ({ transfer: { from, to, token } }: RoutingQuery) =>
  [...new Set([from, to, token])].filter((address) => address !== null);

async function withWatchers(sql: Statements, queries: readonly RoutingQuery[]): Promise<Watched[]> {
  if (queries.length === 0) return [];
  const addresses = [...new Set(queries.flatMap(addressesOf))];
  const watchers = await watchersOf(sql, addresses, [...new Set(queries.map(({ scope }) => scope))]);
  const byPlace = Map.groupBy(watchers, ({ address, scope }) => placeOf(address, scope));
  const asked = queries.map(({ scope, at, transfer }) => ({ scope, at, block: transfer.blockNumber }));
  const times = await passedAt(sql, asked);
  return queries.map((query, index) => ({
    ...query,
    watchers: addressesOf(query)
      .flatMap((address) => byPlace.get(placeOf(address, query.scope)) ?? [])
      .map(({ scope: _, ...watcher }) => watcher),
    passedAt: times[index]!,
  }));
}
