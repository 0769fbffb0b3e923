import type { Database } from 'better-sqlite3';
import { type Hold, mayHold } from '../../domain/hold.ts';
import type { SeenTransfer } from '../../domain/identity.ts';
import {
  addressesOf,
  type RoutingContext,
  type RoutingQuery,
  type RoutingResult,
  type SubscriptionStats,
  type WatchedTransfer,
  watchedQueries,
} from '../../domain/routing.ts';
import { alreadyRouted } from '../sql/already-routed.ts';
import { withoutRemoved } from '../sql/removed-subscriptions.ts';
import {
  type DeliveryRow,
  type TransferRow,
  toDeliveryRow,
  toSeenDelivery,
  toSeenTransfer,
} from '../sql/transfer-rows.ts';
import { unsynced } from './database.ts';
import { editTables } from './edits.ts';
import { guardTables } from './guard.ts';
import { scopeLookUp } from './projects.ts';
import { watcherLookUp } from './subscriptions.ts';

/** What was seen, and the step from the inbox to the outbox. */
export function routingTable(db: Database) {
  const guard = guardTables(db);
  const read = db.transaction(reader(db, guard));
  const commit = db.transaction(writer(db, guard));
  return {
    /**
     * Reads everything needed to decide about these deliveries. `now` decides which mutes and counterparties still
     * count.
     */
    context: (queries: RoutingQuery[], now: number): RoutingContext => read(queries, now),
    /** Does not wait for the disk: after a power failure the deliveries are still in the inbox and are routed again. */
    commit: (routed: RoutingResult): string[] => unsynced(db, () => commit.immediate(routed)),
  };
}

type Guard = ReturnType<typeof guardTables>;

function reader(db: Database, guard: Guard) {
  const watchersOf = watcherLookUp(db);
  const transfer = db.prepare<{ key: string; txHash: string }, TransferRow>(
    `SELECT id, @key AS key, scope, seen_at AS seenAt, count, reorganized, data FROM transfers
     WHERE substr(tx_hash, 3, 8) = substr(@txHash, 3, 8) AND key = unhex(@key)`,
  );
  const delivery = db.prepare<{ transferId: number; transferKey: string; key: string }, DeliveryRow>(
    `SELECT @key AS key, @transferKey AS transferKey, count, unacknowledged, answered_at AS ackedAt, received,
       seen_at AS seenAt, first_minute AS firstMinute, ids, places
     FROM deliveries WHERE transfer_id = @transferId AND key = unhex(@key)`,
  );
  const lookUpScope = scopeLookUp(db);
  const mutesOf = db.prepare<[string, number], RoutingContext['mutes'][number]>(
    'SELECT guild_id AS guildId, token FROM token_mutes WHERE guild_id = ? AND until > ?',
  );
  const timezoneOf = db.prepare<[string], RoutingContext['timezones'][number]>(
    'SELECT guild_id AS guildId, timezone FROM guilds WHERE guild_id = ?',
  );
  const projectOf = db.prepare<[number], RoutingContext['projects'][number]>(
    'SELECT id AS scope, project_id AS projectId FROM projects WHERE id = ?',
  );
  const statsOf = db.prepare<[number], SubscriptionStats>(
    `SELECT subscription_id AS subscription, events, last_event_at AS lastEventAt, gap_ms AS gapMs FROM activity_stats
     WHERE subscription_id = ?`,
  );

  /** New transfers that somebody watches; see `watchedQueries`. */
  function newTransfers(queries: RoutingQuery[], isKnown: (key: string) => boolean) {
    const byAddress = memo(watchersOf());
    const scopeOf = memo(lookUpScope);
    const passedAt = guard.passedAt();
    const around = memo((query: RoutingQuery) =>
      addressesOf(query)
        .flatMap((address) => byAddress(address))
        .filter(({ guildId }) => scopeOf(guildId) === query.scope),
    );
    const { watched, covered } = watchedQueries(queries, isKnown, (query) => around(query).length);
    const found = watched.map((query): WatchedTransfer & RoutingQuery => {
      const { scope, transfer, at } = query;
      return { ...query, watchers: around(query), passedAt: passedAt(scope, transfer.blockNumber, at) };
    });
    return { found, covered };
  }

  return (queries: RoutingQuery[], now: number): RoutingContext => {
    const asked = new Map(queries.map((query) => [query.transferKey, query]));
    const rows = [...asked].flatMap(([key, query]) => transfer.get({ key, txHash: query.transfer.txHash }) ?? []);
    const ids = new Map(rows.map(({ key, id }) => [key, id]));
    const sent = new Map(queries.map(({ deliveryKey, transferKey }) => [deliveryKey, transferKey]));
    const deliveries = [...sent].flatMap(([key, transferKey]) => {
      const transferId = ids.get(transferKey);
      return transferId === undefined ? [] : (delivery.get({ transferId, transferKey, key }) ?? []);
    });
    const { found: fresh, covered } = newTransfers(queries, (key) => ids.has(key));
    const watchers = fresh.flatMap(({ watchers }) => watchers);
    const guildIds = [...new Set(watchers.map(({ guildId }) => guildId))];
    const waiting = watchers.filter(mayHold);
    return {
      covered,
      transfers: rows.map(toSeenTransfer),
      deliveries: deliveries.map(toSeenDelivery),
      watched: fresh.map(({ transferKey, watchers, passedAt }) => ({ transferKey, watchers, passedAt })),
      mutes: guildIds.flatMap((guildId) => mutesOf.all(guildId, now)),
      timezones: [...new Set(waiting.map(({ guildId }) => guildId))].flatMap(
        (guildId) => timezoneOf.get(guildId) ?? [],
      ),
      knowledge: guard.read(fresh, now),
      projects: [...new Set(fresh.map(({ scope }) => scope))].flatMap((scope) => projectOf.get(scope) ?? []),
      stats: [...new Set(watchers.map(({ id }) => id))].flatMap((id) => statsOf.get(id) ?? []),
    };
  };
}

// Positional parameters: binding many values by name takes twice as long.
function writer(db: Database, { keep }: Guard) {
  const { requestChange } = editTables(db);
  const addTransfer = db.prepare<[string, number, string, number, number, number, string]>(
    `INSERT INTO transfers (key, scope, tx_hash, seen_at, count, reorganized, data)
     VALUES (unhex(?), ?, ?, ?, ?, ?, ?)`,
  );
  const storedAs = db.prepare<[number, string], Pick<TransferRow, 'count' | 'reorganized' | 'data'>>(
    'SELECT count, reorganized, data FROM transfers WHERE id = ? AND key = unhex(?)',
  );
  const setTransfer = db.prepare<[number, number, string, number]>(
    'UPDATE transfers SET count = ?, reorganized = ?, data = ? WHERE id = ?',
  );
  const putDelivery = db.prepare(
    `INSERT INTO deliveries (transfer_id, key, count, unacknowledged, answered_at, received, seen_at,
       project_id, address_type, direction, last_at, first_minute, ids, places)
     VALUES (?, unhex(?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET count = excluded.count, unacknowledged = excluded.unacknowledged,
       answered_at = excluded.answered_at, received = excluded.received, last_at = excluded.last_at,
       first_minute = excluded.first_minute, ids = excluded.ids, places = excluded.places`,
  );
  const addAlert = db.prepare<[number, number, string, string, string, string, Hold | null, number, number]>(
    `INSERT INTO alerts (transfer_id, inbox_id, guild_id, channel_id, matches, warnings, hold, due_at, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const addChannel = db.prepare<[string, string]>(
    'INSERT INTO channels (channel_id, guild_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const addDecision = db.prepare<[number, string, string, number, string, string, number]>(
    `INSERT INTO decisions (transfer_id, guild_id, channel_id, subscription_id, outcome, address, at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  // Changes nothing if the subscription was removed since the router read it. An event ends a silence.
  const putStats = db.prepare<[number, number, number | null, number]>(
    `INSERT INTO activity_stats (subscription_id, events, last_event_at, gap_ms)
     SELECT id, ?, ?, ? FROM subscriptions WHERE id = ?
     ON CONFLICT DO UPDATE SET events = excluded.events, last_event_at = excluded.last_event_at,
       gap_ms = excluded.gap_ms, silence_reported_at = NULL`,
  );
  const quarantine = db.prepare<[string, number | null, number]>(
    `INSERT INTO quarantine (scope, received_at, reason, answered_at, body, identity)
     SELECT scope, received_at, ?, coalesce(?, answered_at), body, identity FROM inbox WHERE id = ?`,
  );
  const drop = db.prepare<[string]>('DELETE FROM inbox WHERE id IN (SELECT value FROM json_each(?))');

  /** The router reads, decides and commits one after the other, so nothing was added since it read. */
  function putTransfer({ id, key, scope, seenAt, count, reorganized, transfer }: SeenTransfer): number {
    const data = JSON.stringify(transfer);
    const moved = reorganized ? 1 : 0;
    // But rows may have been deleted since.
    const stored = id === null ? undefined : storedAs.get(id, key);
    if (id === null || !stored)
      return Number(addTransfer.run(key, scope, transfer.txHash, seenAt, count, moved, data).lastInsertRowid);
    // A repeat and a twin usually change nothing.
    if (stored.count !== count || stored.reorganized !== moved || stored.data !== data)
      setTransfer.run(count, moved, data, id);
    return id;
  }

  /** Takes deliveries out of the inbox. If one is no longer there, its server was erased since the router read it. */
  function takeFromInbox({ done, quarantined }: RoutingResult): void {
    for (const { id, reason, ackedAt } of quarantined) quarantine.run(reason, ackedAt, id);
    const ids = [...done, ...quarantined.map(({ id }) => id)];
    if (drop.run(JSON.stringify(ids)).changes < ids.length) throw alreadyRouted();
  }

  return (result: RoutingResult): string[] => {
    takeFromInbox(result);
    const removed = result.stats.filter(
      ({ subscription, events, lastEventAt, gapMs }) =>
        putStats.run(events, lastEventAt, gapMs, subscription).changes === 0,
    );
    const routed = withoutRemoved(result, new Set(removed.map(({ subscription }) => subscription)));
    const { now } = routed;
    const ids = new Map<string, number>();
    for (const transfer of routed.transfers) ids.set(transfer.key, putTransfer(transfer));
    for (const delivery of routed.deliveries.map(toDeliveryRow)) {
      const { transferKey, key, count, unacknowledged, ackedAt, received, seenAt } = delivery;
      const seen = [ids.get(transferKey)!, key, count, unacknowledged ? 1 : 0, ackedAt, received, seenAt];
      const { projectId, addressType, direction, lastAt, firstMinute, places } = delivery;
      putDelivery.run(...seen, projectId, addressType, direction, lastAt, firstMinute, delivery.ids, places);
    }
    for (const { transferKey, inboxId, guildId, channelId, matches, warnings, hold, dueAt } of routed.alerts) {
      addChannel.run(channelId, guildId);
      const [matched, warned] = [JSON.stringify(matches), JSON.stringify(warnings)];
      addAlert.run(ids.get(transferKey)!, inboxId, guildId, channelId, matched, warned, hold, dueAt, now);
    }
    for (const { transferKey, guildId, channelId, subscription, outcome, address, at } of routed.decisions) {
      addDecision.run(ids.get(transferKey)!, guildId, channelId, subscription, outcome, address, at);
    }
    keep(routed.learned);
    return routed.changed.flatMap((key) => requestChange(ids.get(key)!, now));
  };
}

/** Caches a lookup by its key. */
function memo<K, V>(ask: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    const value = known.get(key) ?? ask(key);
    known.set(key, value);
    return value;
  };
}
