import { mayHold } from '../../domain/alert.ts';
import { isSameMovement } from '../../domain/completeness.ts';
import type { SeenDelivery, SeenTransfer } from '../../domain/identity.ts';
import { isOperatorScope, networkOfOperator } from '../../domain/project.ts';
import {
  addressesOf,
  type RoutingContext,
  type RoutingQuery,
  type WatchedTransfer,
  watchedQueries,
} from '../../domain/routing.ts';
import type { Watcher } from '../../domain/subscription.ts';
import { isIn, part, type QueriesOf, raw, read, rows, type Sql, unsynced } from '../sql.ts';
import type { Routing } from '../store.ts';
import { nextRows } from './inbox.ts';
import { comparedUpTo } from './meta.ts';
import { storeRouted } from './routed.ts';
import { filtersParser, WATCHER_COLUMNS } from './subscriptions.ts';
import { passedAt, readKnowledge } from './tokens.ts';

export const routing: QueriesOf<Routing> = {
  context: read(async (sql, queries, now): Promise<RoutingContext> => {
    const seen = await seenTransfers(sql, queries);
    const { aliases, found } = await otherForms(sql, queries, new Set(seen.map(({ key }) => key)));
    const transfers = [...seen, ...found];
    const known = new Set([...transfers.map(({ key }) => key), ...aliases.keys()]);
    const scopes = await networksOf(sql, [...new Set(queries.map(({ scope }) => scope))]);
    const { watched, covered } = await newTransfers(sql, queries, known, scopes);
    const watchers = watched.flatMap((transfer) => transfer.watchers);
    const guildsOf = (some: readonly Watcher[]) => [...new Set(some.map(({ guildId }) => guildId))];
    return {
      covered,
      transfers,
      aliases,
      deliveries: await seenDeliveries(sql, transfers, queries, aliases),
      watched: watched.map(({ transferKey, watchers: all, passedAt: times }) => ({
        transferKey,
        watchers: all,
        passedAt: times,
      })),
      mutes: await sql.all`
        SELECT guild_id, token FROM token_mutes WHERE guild_id ${isIn(guildsOf(watchers))} AND until > ${now}`,
      timezones: await sql.all`
        SELECT guild_id, timezone FROM guilds WHERE guild_id ${isIn(guildsOf(watchers.filter(mayHold)))}`,
      knowledge: await readKnowledge(sql, watched, now),
      scopes,
      compared: await comparedUpTo(sql, new Set(scopes.map(({ network }) => network))),
      stats: await sql.all`
        SELECT subscription_id AS subscription, events, last_event_at, gap_ms FROM activity_stats
        WHERE subscription_id ${isIn([...new Set(watchers.map(({ id }) => id))])}`,
    };
  }),

  // After a power failure the deliveries are still in the inbox and are routed again.
  commit: unsynced(async (sql, result, next = null) => ({
    edited: await storeRouted(sql, result),
    next: next ? await nextRows(sql, next.limit, next.bytes) : [],
  })),
};

type StoredTransfer = SeenTransfer & { id: number };

const SEEN = raw(`t.id, t.key, t.scope, t.network, t.seen_at, t.count, t.reorganized AS reorganized_flag,
  t.worthless AS is_worthless_flag, t.data AS transfer_json`);

function seenTransfers(sql: Sql, queries: readonly RoutingQuery[]): Promise<StoredTransfer[]> {
  const asked = new Map(queries.map(({ transferKey: key, transfer: { txHash } }) => [key, { key, txHash }]));
  return sql.all`
    SELECT ${SEEN} FROM ${rows([...asked.values()], 'q (key text, tx_hash text)')} CROSS JOIN transfers t
    WHERE substr(t.tx_hash, 3, 8) = substr(q.tx_hash, 3, 8) AND t.key = q.key`;
}

/**
 * Transfers that are known in another form than a query has: what was found on the chain is written as this bot writes it,
 * and services write NFTs in several ways. `aliases`: the key of the known one, by that of the query.
 */
async function otherForms(sql: Sql, queries: readonly RoutingQuery[], known: ReadonlySet<string>) {
  const aliases = new Map<string, string>();
  const asked = queries.filter(({ transferKey }) => !known.has(transferKey));
  const isAny = asked.some(({ isFound }) => isFound)
    ? true
    : await sql.value`SELECT 1 FROM transfers WHERE mined_at IS NOT NULL LIMIT 1`;
  if (asked.length === 0 || !isAny) return { aliases, found: [] };
  const rowsOf = asked.flatMap(({ scope, transfer: { txHash, kind, blockNumber }, isFound }) => [
    { txHash, scope, isFound: isFound ?? false },
    ...(kind === 'native' ? [{ txHash: `block${blockNumber}`, scope, isFound: false }] : []),
  ]);
  // A transaction may have thousands of transfers, which are read once.
  const places = [...new Map(rowsOf.map((row) => [JSON.stringify(row), row])).values()];
  const near = await sql.all<StoredTransfer>`
    SELECT DISTINCT ${SEEN}
    FROM ${rows(places, 'q (tx_hash text, scope bigint, is_found bigint)')} CROSS JOIN transfers t
    WHERE substr(t.tx_hash, 3, 8) = substr(q.tx_hash, 3, 8) AND t.tx_hash = q.tx_hash AND +t.scope = q.scope
      AND (t.mined_at IS NOT NULL OR q.is_found = 1)`;
  const found = new Map<string, StoredTransfer>();
  for (const { transferKey, scope, transfer } of asked) {
    const same = near.find(
      (seen) => seen.scope === scope && !known.has(seen.key) && isSameMovement(transfer, seen.transfer),
    );
    if (!same) continue;
    aliases.set(transferKey, same.key);
    found.set(same.key, same);
  }
  return { aliases, found: [...found.values()] };
}

async function seenDeliveries(
  sql: Sql,
  transfers: readonly { id: number; key: string }[],
  queries: readonly RoutingQuery[],
  aliases: ReadonlyMap<string, string>,
): Promise<SeenDelivery[]> {
  const ids = new Map(transfers.map(({ id, key }) => [key, id]));
  const asked = new Map(
    queries.flatMap(({ deliveryKey: key, transferKey: own }) => {
      const transferKey = aliases.get(own) ?? own;
      const transferId = ids.get(transferKey);
      return transferId === undefined ? [] : [[key, { transferId, key, transferKey }] as const];
    }),
  );
  if (asked.size === 0) return [];
  return sql.all`
    SELECT d.key, q.transfer_key, d.count, d.received, d.seen_at, d.run, d.window_ms, d.in_window,
      coalesce(d.ids, '[]') AS ids_json, coalesce(d.places, '[]') AS places_json
    FROM ${rows([...asked.values()], 'q (transfer_id bigint, key text, transfer_key text)')} CROSS JOIN deliveries d
    WHERE d.transfer_id = q.transfer_id AND d.key = q.key`;
}

/** The network of each scope; a project that is gone has none any more, and nobody watches in its scope. */
async function networksOf(sql: Sql, scopes: readonly number[]): Promise<RoutingContext['scopes']> {
  const own = await sql.all<RoutingContext['scopes'][number]>`
    SELECT id AS scope, network, project_id FROM projects WHERE id ${isIn(scopes)}`;
  const operators = scopes.filter(isOperatorScope);
  return [...operators.map((scope) => ({ scope, network: networkOfOperator(scope), projectId: null })), ...own];
}

/**
 * Subscriptions to addresses, each in the scopes asked for that its guild gets events from: its own project's on that network,
 * or else the operator's.
 */
const inScopes = (asked: readonly object[]) =>
  part`FROM ${rows(asked, 'q (scope bigint, network bigint, asked text)')} CROSS JOIN subscriptions
     LEFT JOIN (SELECT guild_id AS owner, network AS place, id AS own_scope FROM projects) own
       ON own.owner = subscriptions.guild_id AND own.place = q.network
   WHERE subscriptions.address = q.asked AND coalesce(subscriptions.network, -1) IN (-1, q.network)
     AND coalesce(own.own_scope, -q.network) = q.scope`;

type Watched = WatchedTransfer & RoutingQuery & { network: number };

/** New transfers that somebody watches; see `watchedQueries`. */
async function newTransfers(
  sql: Sql,
  queries: readonly RoutingQuery[],
  known: ReadonlySet<string>,
  scopes: RoutingContext['scopes'],
): Promise<{ watched: Watched[]; covered: number }> {
  const networks = new Map(scopes.map(({ scope, network }) => [scope, network]));
  const asked = (some: readonly RoutingQuery[]) => {
    const places = some.flatMap((query) => {
      const { scope } = query;
      const network = networks.get(scope);
      if (network === undefined) return [];
      return addressesOf(query).map((address) => [`${scope} ${address}`, { scope, network, asked: address }] as const);
    });
    return [...new Map(places).values()];
  };
  const fresh = queries.filter(({ transferKey }) => !known.has(transferKey));
  const counted = await sql.all<{ address: string; scope: number; n: number }>`
    SELECT address, q.scope, count(*) AS n ${inScopes(asked(fresh))} GROUP BY address, q.scope`;
  const counts = new Map(counted.map(({ address, scope, n }) => [`${scope} ${address}`, n]));
  const { watched, covered } = watchedQueries(
    queries,
    (key) => known.has(key),
    (query) => addressesOf(query).reduce((sum, address) => sum + (counts.get(`${query.scope} ${address}`) ?? 0), 0),
  );
  const byAddress = await watchersOf(sql, asked(watched));
  const times = await passedAt(sql, watched);
  return {
    watched: watched.map((query, index) => ({
      ...query,
      network: networks.get(query.scope)!,
      watchers: addressesOf(query).flatMap((address) => byAddress.get(`${query.scope} ${address}`) ?? []),
      passedAt: times[index]!,
    })),
    covered,
  };
}

/** The subscriptions to the addresses of some transfers, by scope and address. */
async function watchersOf(sql: Sql, asked: readonly object[]): Promise<Map<string, Watcher[]>> {
  const found = await sql.all<Omit<Watcher, 'filters'> & { filters: string; scope: number }>`
    SELECT ${WATCHER_COLUMNS}, q.scope ${inScopes(asked)} ORDER BY id`;
  const parsed = filtersParser();
  const byPlace = Map.groupBy(found, ({ scope, address }) => `${scope} ${address}`);
  return new Map([...byPlace].map(([place, all]) => [place, all.map(({ scope: _, ...row }) => parsed(row))]));
}
