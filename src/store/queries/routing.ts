import { type AlertTarget, mayHold } from '../../domain/alert.ts';
import { isSameMovement } from '../../domain/completeness.ts';
import type { SeenDelivery, SeenTransfer } from '../../domain/identity.ts';
import { isOperatorScope, networkOfOperator } from '../../domain/project.ts';
import {
  type RoutingContext,
  type RoutingQuery,
  type RoutingResult,
  type WatchedTransfer,
  watchableAddresses,
  watchedQueries,
} from '../../domain/routing.ts';
import { distinct } from '../../domain/scam.ts';
import type { Watcher } from '../../domain/subscription.ts';
import { StoreError } from '../../errors.ts';
import {
  insertAll,
  isIn,
  part,
  type QueriesOf,
  raw,
  read,
  rows,
  type Sql,
  unsynced,
  update,
  upsertAll,
} from '../sql.ts';
import type { Routing } from '../store.ts';
import { addChannels } from './channels.ts';
import { requestChanges } from './edits.ts';
import { nextRows } from './inbox.ts';
import { comparedUpTo } from './meta.ts';
import { filtersParser, WATCHER_COLUMNS } from './subscriptions.ts';
import { keepLearned, passedAt, readKnowledge } from './tokens.ts';

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
 * What was found on the chain is written as this bot writes it, and services write NFTs in several ways. `aliases`: the
 * stored transfer's key by the query's.
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
  const keys = distinct(rowsOf);
  const near = await sql.all<StoredTransfer>`
    SELECT DISTINCT ${SEEN}
    FROM ${rows(keys, 'q (tx_hash text, scope bigint, is_found bigint)')} CROSS JOIN transfers t
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

/** A project that is gone has no network, and nobody watches in its scope. */
async function networksOf(sql: Sql, scopes: readonly number[]): Promise<RoutingContext['scopes']> {
  const own = await sql.all<RoutingContext['scopes'][number]>`
    SELECT id AS scope, network, project_id FROM projects WHERE id ${isIn(scopes)}`;
  const operators = scopes.filter(isOperatorScope);
  return [...operators.map((scope) => ({ scope, network: networkOfOperator(scope), projectId: null })), ...own];
}

/** A guild gets the events of its own project's scope on that network, or else of the operator's. */
const inScopes = (asked: readonly object[]) =>
  part`FROM ${rows(asked, 'q (scope bigint, network bigint, asked text)')} CROSS JOIN subscriptions
     LEFT JOIN (SELECT guild_id AS owner, network AS place, id AS own_scope FROM projects) own
       ON own.owner = subscriptions.guild_id AND own.place = q.network
   WHERE subscriptions.address = q.asked AND coalesce(subscriptions.network, -1) IN (-1, q.network)
     AND coalesce(own.own_scope, -q.network) = q.scope`;

type Watched = WatchedTransfer & RoutingQuery & { network: number };

async function newTransfers(
  sql: Sql,
  queries: readonly RoutingQuery[],
  known: ReadonlySet<string>,
  scopes: RoutingContext['scopes'],
): Promise<{ watched: Watched[]; covered: number }> {
  const networks = new Map(scopes.map(({ scope, network }) => [scope, network]));
  const asked = (some: readonly RoutingQuery[]) => {
    const keys = some.flatMap((query) => {
      const { scope } = query;
      const network = networks.get(scope);
      if (network === undefined) return [];
      return watchableAddresses(query).map(
        (address) => [`${scope} ${address}`, { scope, network, asked: address }] as const,
      );
    });
    return [...new Map(keys).values()];
  };
  const fresh = queries.filter(({ transferKey }) => !known.has(transferKey));
  const counted = await sql.all<{ address: string; scope: number; n: number }>`
    SELECT address, q.scope, count(*) AS n ${inScopes(asked(fresh))} GROUP BY address, q.scope`;
  const counts = new Map(counted.map(({ address, scope, n }) => [`${scope} ${address}`, n]));
  const { watched, covered } = watchedQueries(
    queries,
    (key) => known.has(key),
    (query) =>
      watchableAddresses(query).reduce((sum, address) => sum + (counts.get(`${query.scope} ${address}`) ?? 0), 0),
  );
  const byAddress = await watchersOf(sql, asked(watched));
  const times = await passedAt(sql, watched);
  return {
    watched: watched.map((query, index) => ({
      ...query,
      network: networks.get(query.scope)!,
      watchers: watchableAddresses(query).flatMap((address) => byAddress.get(`${query.scope} ${address}`) ?? []),
      passedAt: times[index]!,
    })),
    covered,
  };
}

async function watchersOf(sql: Sql, asked: readonly object[]): Promise<Map<string, Watcher[]>> {
  const found = await sql.all<Omit<Watcher, 'filters'> & { filters: string; scope: number }>`
    SELECT ${WATCHER_COLUMNS}, q.scope ${inScopes(asked)} ORDER BY id`;
  const parsed = filtersParser();
  const byPlace = Map.groupBy(found, ({ scope, address }) => `${scope} ${address}`);
  return new Map([...byPlace].map(([place, all]) => [place, all.map(({ scope: _, ...row }) => parsed(row))]));
}

async function storeRouted(sql: Sql, result: RoutingResult): Promise<AlertTarget[]> {
  await takeFromInbox(sql, result);
  const routed = withoutRemoved(result, await putStats(sql, result));
  const { now } = routed;
  const ids = await putTransfers(sql, routed.transfers);
  const withId = <Row extends { transferKey: string }>(all: readonly Row[]) =>
    all.map(({ transferKey, ...row }) => ({ ...row, transferId: ids.get(transferKey)! }));
  await upsertAll(sql, 'deliveries', 'transfer_id, key', withId(routed.deliveries));
  await addChannels(sql, new Map(routed.alerts.map(({ channelId, guildId }) => [channelId, guildId])));
  const alerts = withId(routed.alerts).map(({ isSignificant, ...alert }) => {
    return { ...alert, significant: isSignificant, createdAt: now };
  });
  await insertAll(sql, 'alerts', alerts);
  const decisions = withId(routed.decisions).map(({ subscription, ...row }) => {
    return { ...row, subscriptionId: subscription };
  });
  await insertAll(sql, 'decisions', decisions);
  await keepLearned(sql, routed.learned);
  const changed = routed.changed.map((key) => ids.get(key)!);
  return requestChanges(sql, changed, now);
}

/**
 * A delivery that is gone was erased with its server, or an earlier commit whose response was lost has stored all this:
 * what was decided since counts it twice.
 */
async function takeFromInbox(sql: Sql, { done, quarantined }: RoutingResult): Promise<void> {
  if (quarantined.length > 0) {
    await sql.run`
      INSERT INTO quarantine (scope, received_at, run, run_ms, identity, reason, bytes, body)
      SELECT scope, received_at, run, run_ms, identity, q.reason, length(body), body
      FROM ${rows(quarantined, 'q (id bigint, reason text)')} CROSS JOIN inbox WHERE inbox.id = q.id ORDER BY inbox.id`;
  }
  const ids = [...done, ...quarantined.map(({ id }) => id)];
  if ((await sql.run`DELETE FROM inbox WHERE id ${isIn(ids)}`) < ids.length) {
    throw new StoreError('Deliveries have left the inbox since they were read; it is read again.', 'LEDGERBELL_ROUTED');
  }
}

/** An event ends a silence. Returns the subscriptions that were removed since the router read them. */
async function putStats(
  sql: Sql,
  { stats, concerned }: Pick<RoutingResult, 'stats' | 'concerned'>,
): Promise<Set<number>> {
  const latest = new Map(stats.map((each) => [each.subscription, each]));
  const removed = new Set([...latest.keys(), ...concerned]);
  const found = await sql.list<number>`SELECT id FROM subscriptions WHERE id ${isIn([...removed])}`;
  const rows = found.flatMap((id) => {
    const after = latest.get(id);
    if (!after) return [];
    const { events, lastEventAt, gapMs } = after;
    return { subscriptionId: id, events, lastEventAt, gapMs, silenceReportedAt: null };
  });
  await upsertAll(sql, 'activity_stats', 'subscription_id', rows);
  for (const id of found) removed.delete(id);
  return removed;
}

function withoutRemoved(routed: RoutingResult, removed: ReadonlySet<number>): RoutingResult {
  if (removed.size === 0) return routed;
  const remains = ({ subscription }: { subscription: number }) => !removed.has(subscription);
  const decisions = routed.decisions.filter(remains);
  const watched = new Set(decisions.map(({ guildId, address }) => `${guildId} ${address}`));
  const counterparties = routed.learned.counterparties.filter(({ guildId, address }) =>
    watched.has(`${guildId} ${address}`),
  );
  return {
    ...routed,
    alerts: routed.alerts.filter(({ matches }) => matches.some(remains)),
    decisions,
    learned: { ...routed.learned, counterparties },
  };
}

/** Returns the ids by the transfers' keys. */
async function putTransfers(sql: Sql, transfers: readonly SeenTransfer[]): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  const known = transfers.flatMap(({ id }) => id ?? []);
  // Rows may have been deleted since the router read them.
  const stored = await sql.all<{ id: number; key: string; count: number; reorganized: boolean; data: string }>`
    SELECT id, key, count, reorganized AS reorganized_flag, data FROM transfers WHERE id ${isIn(known)}`;
  for (const row of stored) ids.set(row.key, row.id);
  const byKey = new Map(stored.map((row) => [row.key, row]));
  const added: object[] = [];
  for (const { id: _, transfer, ...seen } of transfers) {
    const before = byKey.get(seen.key);
    const data = JSON.stringify(transfer);
    if (!before) {
      const { isWorthless: worthless, minedAt = null, ...columns } = seen;
      const { txHash, from, to, token, kind, tokenSymbol, tokenType, blockNumber: block } = transfer;
      const searched = { txHash, fromAddress: from, toAddress: to, token, kind, tokenSymbol, tokenType, block };
      added.push({ ...columns, worthless, minedAt, data, ...searched });
      continue;
    }
    // A repeat and a twin usually change nothing.
    if (before.count === seen.count && before.reorganized === seen.reorganized && before.data === data) continue;
    const { count, reorganized } = seen;
    await update(sql, 'transfers', { id: before.id }, { count, reorganized, data, block: transfer.blockNumber });
  }
  const inserted = await insertAll<{ id: number; key: string }>(sql, 'transfers', added, 'RETURNING id, key');
  for (const { id, key } of inserted) ids.set(key, id);
  return ids;
}
