import { mayHold } from '../../domain/alert.ts';
import { type CheckProgress, isSameMovement } from '../../domain/completeness.ts';
import type { SeenDelivery, SeenTransfer } from '../../domain/identity.ts';
import {
  HEADS_MS,
  type RoutingContext,
  type RoutingQuery,
  type RoutingResult,
  type WatchedTransfer,
} from '../../domain/routing.ts';
import { distinct, type ObservedTransfer } from '../../domain/scam.ts';
import { DEFAULT_FILTERS, type Filters, type Watcher } from '../../domain/subscription.ts';
import { StoreError } from '../../errors.ts';
import { insertAll, isIn, part, type QueriesOf, raw, read, rows, type Sql, unsynced, update } from '../sql.ts';
import type { Routing } from '../store.ts';
import { requestChanges } from './edits.ts';
import { nextRows } from './inbox.ts';
import { META_KEYS } from './meta.ts';
import { keepLearned, readKnowledge } from './tokens.ts';

export const routing: QueriesOf<Routing> = {
  context: read(async (sql, queries, now): Promise<RoutingContext> => {
    const { transfers, aliases, deliveries } = await readSeen(sql, queries);
    const asked = new Map<number, object>();
    for (const { scope } of queries) asked.set(scope, { scope });
    // The operator's scope on a network is its number, negated. A project that is gone has no network, and nobody
    // watches in its scope.
    const found = await sql.all<Scope>`
      SELECT scope, network, project_id, (SELECT max(block) FROM heads WHERE heads.scope = scopes.scope) AS head,
        (SELECT value FROM meta WHERE key = CAST(${META_KEYS.nativeSymbol} AS TEXT) || network) AS native_symbol,
        (SELECT value FROM meta WHERE key = CAST(${META_KEYS.checked} AS TEXT) || network) AS compared_json
      FROM (
        SELECT q.scope, CASE WHEN q.scope > 0 THEN p.network ELSE -q.scope END AS network, p.project_id
        FROM ${rows(asked.values(), 'q (scope bigint)')} LEFT JOIN projects p ON p.id = q.scope) AS scopes
      WHERE network IS NOT NULL`;
    const known = new Set([...transfers.keys(), ...aliases.keys()]);
    const { observed, ...watched } = await readWatched(sql, queries, known, found, now);
    const nativeSymbols = new Map<number, string>();
    const compared = new Map<number, CheckProgress>();
    const scopes: RoutingContext['scopes'] = [];
    for (const { nativeSymbol, compared: progress, head: _, ...scope } of found) {
      scopes.push(scope);
      if (nativeSymbol !== null) nativeSymbols.set(scope.network, nativeSymbol);
      if (progress !== null) compared.set(scope.network, progress);
    }
    const knowledge = { ...(await readKnowledge(sql, observed, now)), nativeSymbols };
    return { transfers: [...transfers.values()], aliases, deliveries, ...watched, knowledge, scopes, compared };
  }),

  commit: unsynced(commit),
};

type StoredTransfer = SeenTransfer & { id: number };

const SEEN = raw(`t.id, t.key, t.scope, t.network, t.seen_at, t.count, t.reorganized AS reorganized_flag,
  t.worthless AS is_worthless_flag, t.data AS transfer_json`);

async function readSeen(sql: Sql, queries: readonly RoutingQuery[]) {
  const keys = new Map<string, object>();
  let isAnyFound: unknown = false;
  for (const { transferKey: key, transfer, isFound } of queries) {
    keys.set(key, { key, txHash: transfer.txHash });
    isAnyFound ||= isFound;
  }
  const transfers = new Map<string, StoredTransfer>();
  for (const transfer of await sql.all<StoredTransfer>`
    SELECT ${SEEN} FROM ${rows(keys.values(), 'q (key text, tx_hash text)')} CROSS JOIN transfers t
    WHERE substr(t.tx_hash, 3, 8) = substr(q.tx_hash, 3, 8) AND t.key = q.key`)
    transfers.set(transfer.key, transfer);
  isAnyFound ||= await sql.value`SELECT 1 FROM transfers WHERE mined_at IS NOT NULL LIMIT 1`;
  const aliases = isAnyFound ? await addOtherForms(sql, queries, transfers) : new Map<string, string>();
  const asked = new Map<string, object>();
  for (const { deliveryKey: key, transferKey: own } of queries) {
    const transferKey = aliases.get(own) ?? own;
    const transferId = transfers.get(transferKey)?.id;
    if (transferId !== undefined) asked.set(key, { transferId, key, transferKey });
  }
  const deliveries: SeenDelivery[] = await sql.all`
    SELECT d.key, q.transfer_key, d.count, d.received, d.seen_at, d.run, d.window_ms, d.in_window,
      coalesce(d.ids, '[]') AS ids_json, coalesce(d.places, '[]') AS places_json
    FROM ${rows(asked.values(), 'q (transfer_id bigint, key text, transfer_key text)')} CROSS JOIN deliveries d
    WHERE d.transfer_id = q.transfer_id AND d.key = q.key`;
  return { transfers, aliases, deliveries };
}

/**
 * What was found on the chain is written as this bot writes it, and services write NFTs in several ways. Returns the
 * stored transfer's key by the query's, and adds the transfer.
 */
async function addOtherForms(
  sql: Sql,
  queries: readonly RoutingQuery[],
  transfers: Map<string, StoredTransfer>,
): Promise<Map<string, string>> {
  const known = new Set(transfers.keys());
  const aliases = new Map<string, string>();
  const asked = queries.filter(({ transferKey }) => !known.has(transferKey));
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
  for (const { transferKey, scope, transfer } of asked) {
    const same = near.find(
      (seen) => seen.scope === scope && !known.has(seen.key) && isSameMovement(transfer, seen.transfer),
    );
    if (!same) continue;
    aliases.set(transferKey, same.key);
    transfers.set(same.key, same);
  }
  return aliases;
}

/** `head`: the highest block of its samples. */
type Scope = RoutingContext['scopes'][number] & {
  nativeSymbol: string | null;
  compared: CheckProgress | null;
  head: number | null;
};

type Watched = Pick<RoutingContext, 'watched' | 'covered' | 'mutes' | 'timezones' | 'stats'>;

/** Of the queries whose transfers are new and which somebody watches. */
async function readWatched(
  sql: Sql,
  queries: readonly RoutingQuery[],
  known: ReadonlySet<string>,
  scopes: readonly Scope[],
  now: number,
): Promise<Watched & { observed: ObservedTransfer[] }> {
  const networks = new Map<number, number>();
  const heads = new Map<number, number>();
  for (const { scope, network, head } of scopes) {
    networks.set(scope, network);
    heads.set(scope, head ?? -1);
  }
  const { watchersOf, covered } = await readWatchers(sql, queries, known, networks);
  const watched: WatchedTransfer[] = [];
  const observed: ObservedTransfer[] = [];
  const [subscriptions, guilds, holding] = [new Set<number>(), new Set<string>(), new Set<string>()];
  for (const [{ transferKey, scope, at, transfer }, watchers] of watchersOf) {
    for (const watcher of watchers) {
      subscriptions.add(watcher.id);
      guilds.add(watcher.guildId);
      if (mayHold(watcher)) holding.add(watcher.guildId);
    }
    const block = transfer.blockNumber;
    // Nearly every event is at the head.
    const passedAt =
      block === null || block >= heads.get(scope)!
        ? []
        : await sql.list<number>`
          SELECT at FROM heads WHERE scope = ${scope} AND block > ${block} AND at > ${at - HEADS_MS}
          ORDER BY block LIMIT 2`;
    watched.push({ transferKey, watchers, passedAt });
    observed.push({ network: networks.get(scope)!, transfer, watchers });
  }
  return {
    watched,
    covered,
    observed,
    mutes: await sql.all`
      SELECT guild_id, token FROM token_mutes WHERE guild_id ${isIn(guilds)} AND until > ${now}`,
    timezones: await sql.all`SELECT guild_id, timezone FROM guilds WHERE guild_id ${isIn(holding)}`,
    stats: await sql.all`
      SELECT subscription_id AS subscription, events, last_event_at, gap_ms FROM activity_stats
      WHERE subscription_id ${isIn(subscriptions)}`,
  };
}

/**
 * Each subscription costs a decision while deliveries wait to be stored, and every guild may watch one address. More
 * are read only for a single transfer.
 */
const MAX_WATCHERS = 5_000;

/**
 * The watchers of each new transfer that has any; `covered`: how many queries were considered. A guild gets the events
 * of its own project's scope on that network, or else of the operator's.
 */
async function readWatchers(
  sql: Sql,
  queries: readonly RoutingQuery[],
  known: ReadonlySet<string>,
  networks: ReadonlyMap<number, number>,
  most = MAX_WATCHERS,
): Promise<{ watchersOf: Map<RoutingQuery, Watcher[]>; covered: number }> {
  const asked = new Map<string, { place: number; scope: number; network: number | null; asked: string }>();
  /** By scope and address, with a space between them. */
  const watchers = new Map<string, Watcher[]>();
  /** New ones, by their keys; `addresses`: those in `watchers`. */
  const transfers = new Map<string, { place: number; query: RoutingQuery; addresses: string[] }>();
  for (const [place, query] of queries.entries()) {
    const { transferKey, scope, transfer } = query;
    if (known.has(transferKey) || transfers.has(transferKey)) continue;
    const addresses: string[] = [];
    for (const address of new Set([transfer.from, transfer.to, transfer.token])) {
      if (address === null) continue;
      const key = `${scope} ${address}`;
      addresses.push(key);
      if (watchers.has(key)) continue;
      asked.set(key, { place, scope, network: networks.get(scope) ?? null, asked: address });
      watchers.set(key, []);
    }
    transfers.set(transferKey, { place, query, addresses });
  }
  const found = await sql.all<WatcherRow & { scope: number; place: number }>`
    SELECT ${WATCHER_COLUMNS}, q.scope, q.place
    FROM ${rows(asked.values(), 'q (place bigint, scope bigint, network bigint, asked text)')} CROSS JOIN subscriptions
      LEFT JOIN (SELECT guild_id AS owner, network AS own_network, id AS own_scope FROM projects) own
        ON own.owner = subscriptions.guild_id AND own.own_network = q.network
    WHERE subscriptions.address = q.asked AND coalesce(subscriptions.network, -1) IN (-1, q.network)
      AND coalesce(own.own_scope, -q.network) = q.scope
    ORDER BY q.place, id LIMIT ${most + 1}`;
  if (found.length > most && found.at(-1)!.place === 0)
    return readWatchers(sql, queries.slice(0, 1), known, networks, Number.MAX_SAFE_INTEGER - 1);
  for (const { scope, place: _, ...watcher } of withFilters(found))
    watchers.get(`${scope} ${watcher.address}`)!.push(watcher);
  const watchersOf = new Map<RoutingQuery, Watcher[]>();
  let reached = 0;
  for (const { place, query, addresses } of transfers.values()) {
    const watching: Watcher[] = [];
    for (const address of addresses) for (const watcher of watchers.get(address)!) watching.push(watcher);
    reached += watching.length;
    // No watchers are missing: where the statement's limit cut them off, one more than `most` was read.
    if (reached > most && place > 0) return { watchersOf, covered: place };
    if (watching.length > 0) watchersOf.set(query, watching);
  }
  return { watchersOf, covered: queries.length };
}

export const WATCHER_COLUMNS = part`id, guild_id, channel_id, address, direction, kind, minimum, minimum_usd, token,
  paused AS paused_flag, muted_until, filters, digest, quiet, hold_all AS hold_all_flag, mention_minimum,
  mention_minimum_usd`;

type WatcherRow = Omit<Watcher, 'filters'> & { filters: string };

/** Equal filters share one object: parsing them is slow, and a message between threads contains each object once. */
export function withFilters<Row extends { filters: string }>(
  found: readonly Row[],
): (Omit<Row, 'filters'> & { filters: Filters })[] {
  const known = new Map<string, Filters>();
  const parsed: (Omit<Row, 'filters'> & { filters: Filters })[] = [];
  for (const row of found) {
    const filters = known.get(row.filters) ?? { ...DEFAULT_FILTERS, ...(JSON.parse(row.filters) as Partial<Filters>) };
    known.set(row.filters, filters);
    parsed.push({ ...row, filters });
  }
  return parsed;
}

async function commit(sql: Sql, result: RoutingResult, next: { limit: number; bytes: number } | null = null) {
  const { done, quarantined, now: createdAt } = result;
  if (quarantined.length > 0) {
    await sql.run`
      INSERT INTO quarantine (scope, received_at, run, run_ms, identity, reason, bytes, body)
      SELECT scope, received_at, run, run_ms, identity, q.reason, length(body), body
      FROM ${rows(quarantined, 'q (id bigint, reason text)')} CROSS JOIN inbox WHERE inbox.id = q.id ORDER BY inbox.id`;
  }
  const taken = [...done, ...quarantined.map(({ id }) => id)];
  // A delivery that is gone was erased with its server, or an earlier commit whose response was lost has stored all
  // this: what was decided since counts it twice.
  if ((await sql.run`DELETE FROM inbox WHERE id ${isIn(taken)}`) < taken.length) {
    throw new StoreError('Deliveries have left the inbox since they were read; it is read again.', 'LEDGERBELL_ROUTED');
  }

  // An event ends a silence.
  const stats = new Map<number, object>();
  for (const { subscription: subscriptionId, events, lastEventAt, gapMs } of result.stats)
    stats.set(subscriptionId, { subscriptionId, events, lastEventAt, gapMs, silenceReportedAt: null });
  // Subscriptions may have been removed since the router read them.
  const removed = new Set([...stats.keys(), ...result.concerned]);
  for (const id of await sql.list<number>`SELECT id FROM subscriptions WHERE id ${isIn(removed)}`) removed.delete(id);
  for (const id of removed) stats.delete(id);
  await insertAll(sql, 'activity_stats', [...stats.values()], { key: 'subscription_id' });
  const routed = removed.size === 0 ? result : withoutRemoved(result, removed);
  const ids = await putTransfers(sql, routed.transfers);

  const deliveries: object[] = [];
  for (const { transferKey, ...delivery } of routed.deliveries)
    deliveries.push({ ...delivery, transferId: ids.get(transferKey)! });
  await insertAll(sql, 'deliveries', deliveries, { key: 'transfer_id, key' });

  const channels = new Map<string, object>();
  const alerts: object[] = [];
  for (const { transferKey, isSignificant: significant, ...alert } of routed.alerts) {
    const { guildId, channelId } = alert;
    channels.set(channelId, { guildId, channelId });
    alerts.push({ ...alert, transferId: ids.get(transferKey)!, significant, createdAt });
  }
  await insertAll(sql, 'channels', [...channels.values()], { rest: 'ON CONFLICT (channel_id) DO NOTHING' });
  await insertAll(sql, 'alerts', alerts);

  const decisions: object[] = [];
  for (const { transferKey, subscription: subscriptionId, ...decision } of routed.decisions)
    decisions.push({ ...decision, transferId: ids.get(transferKey)!, subscriptionId });
  await insertAll(sql, 'decisions', decisions);

  await keepLearned(sql, routed.learned);
  const changed = routed.changed.map((key) => ids.get(key)!);
  return {
    edited: changed.length === 0 ? [] : await requestChanges(sql, changed, createdAt),
    next: next ? await nextRows(sql, next.limit, next.bytes) : [],
  };
}

function withoutRemoved(routed: RoutingResult, removed: ReadonlySet<number>): RoutingResult {
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
  // Rows may have been deleted since the router read them.
  const found = await sql.all<StoredRow>`
    SELECT t.id, t.key, t.count, t.reorganized AS reorganized_flag, t.data
    FROM ${rows(transfers, 'q (id bigint)')} CROSS JOIN transfers t WHERE t.id = q.id`;
  const before = new Map<string, StoredRow>();
  for (const row of found) before.set(row.key, row);
  const ids = new Map<string, number>();
  const added: object[] = [];
  for (const { id: _, transfer, ...seen } of transfers) {
    const stored = before.get(seen.key);
    const data = JSON.stringify(transfer);
    if (!stored) {
      const { isWorthless: worthless, minedAt = null, ...columns } = seen;
      const { txHash, from, to, token, kind, tokenSymbol, tokenType, blockNumber: block } = transfer;
      const searched = { txHash, fromAddress: from, toAddress: to, token, kind, tokenSymbol, tokenType, block };
      added.push({ ...columns, worthless, minedAt, data, ...searched });
      continue;
    }
    ids.set(seen.key, stored.id);
    // A repeat and a twin usually change nothing.
    if (stored.count === seen.count && stored.reorganized === seen.reorganized && stored.data === data) continue;
    const { count, reorganized } = seen;
    await update(sql, 'transfers', { id: stored.id }, { count, reorganized, data, block: transfer.blockNumber });
  }
  const inserted = await insertAll<StoredRow>(sql, 'transfers', added, { rest: 'RETURNING id, key' });
  for (const { id, key } of inserted) ids.set(key, id);
  return ids;
}

type StoredRow = Pick<SeenTransfer, 'key' | 'count' | 'reorganized'> & { id: number; data: string };
