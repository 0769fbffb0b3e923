import type { AddressText } from '../../domain/address.ts';
import { OPERATOR_SCOPE } from '../../domain/scope.ts';
import type { Watcher } from '../../domain/subscription.ts';
import { WATCHER_COLUMNS, type WatcherRow, watcherParser } from '../sql/subscription-rows.ts';
import type { Statements } from './connection.ts';

/** Reads the subscriptions that watch addresses, with their scopes, on Postgres. */

/** Subscriptions with the scope that their guild gets events from: its own project's, or else the operator's. */
const SCOPED = `subscriptions LEFT JOIN (SELECT guild_id AS owner, id AS scope FROM projects) own
  ON own.owner = subscriptions.guild_id`;

/** A watcher, and the scope of its events. */
export type ScopedWatcher = Watcher & { scope: number };

/** How many subscriptions each of these addresses has in each scope; the keys are made by {@link addressKey}. */
export async function countWatchers(sql: Statements, addresses: readonly AddressText[]): Promise<Map<string, number>> {
  const rows = await sql.all<{ address: AddressText; scope: number; n: number }>(
    `SELECT address, coalesce(scope, ${OPERATOR_SCOPE}) AS scope, count(*) AS n FROM ${SCOPED}
     WHERE address = ANY($1::text[]) GROUP BY 1, 2`,
    addresses,
  );
  return new Map(rows.map(({ address, scope, n }) => [addressKey(address, scope), n]));
}

/** The key of an address in a scope. */
export const addressKey = (address: AddressText, scope: number): string => `${scope} ${address}`;

/** Returns the subscriptions to these addresses in these scopes. */
export async function watchersOf(
  sql: Statements,
  addresses: readonly AddressText[],
  scopes: readonly number[],
): Promise<ScopedWatcher[]> {
  if (addresses.length === 0) return [];
  const rows = await sql.all<WatcherRow & { scope: number }>(
    `SELECT ${WATCHER_COLUMNS}, coalesce(scope, ${OPERATOR_SCOPE}) AS scope FROM ${SCOPED}
     WHERE address = ANY($1::text[]) AND coalesce(scope, ${OPERATOR_SCOPE}) = ANY($2::bigint[]) ORDER BY id`,
    addresses,
    scopes,
  );
  const toWatcher = watcherParser();
  return rows.map((row) => ({ ...toWatcher(row), scope: row.scope }));
}
