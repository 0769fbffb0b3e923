import {
  COUNTERPARTY_MS,
  COUNTERPARTY_REFRESH_MS,
  MAX_ALIKE,
  MAX_NAMED_ALIKE,
  outerDigitsOf,
  skeleton,
} from '../../domain/guard.ts';
import { type GuildParty, knowledgeQuery, namedOnce, rangeOf } from '../../domain/knowledge.ts';
import { HEADS_MS, type Head, isNextHead } from '../../domain/lateness.ts';
import type { CatalogEntry, Learned, ObservedTransfer, TokenKnowledge } from '../../domain/routing.ts';
import type { Watcher } from '../../domain/subscription.ts';
import { META_KEYS } from '../sql/rows.ts';
import { asJson, type Statements } from './connection.ts';

/** Returns what is known about the tokens and parties of watched transfers. */
export async function readKnowledge(
  sql: Statements,
  observed: readonly (ObservedTransfer & { watchers: readonly Watcher[] })[],
  now: number,
): Promise<TokenKnowledge> {
  const { tokens, skeletons, parties, guildParties } = knowledgeQuery(observed);
  const native = await sql.get<{ value: string }>('SELECT value FROM meta WHERE key = $1', META_KEYS.nativeSymbol);
  return {
    catalog: await sql.all<CatalogEntry>(
      'SELECT token, cataloged, symbol, name, checked_at AS "checkedAt" FROM catalog WHERE token = ANY($1::text[])',
      tokens,
    ),
    genuine: await sql.all<TokenKnowledge['genuine'][number]>(
      `SELECT s.skeleton, c.token FROM unnest($1::text[]) AS s (skeleton)
         CROSS JOIN LATERAL (SELECT token FROM catalog WHERE skeleton = s.skeleton AND cataloged LIMIT ${MAX_ALIKE}) AS c`,
      skeletons,
    ),
    nativeSymbol: native?.value ?? null,
    named: await namedLike(sql, guildParties),
    counterparties: await sql.all<TokenKnowledge['counterparties'][number]>(
      `SELECT c.* FROM json_to_recordset($1::json) AS p ("guildId" text, address text, "outerDigits" text)
         CROSS JOIN LATERAL (
           SELECT guild_id AS "guildId", address, counterparty, seen_at AS "seenAt" FROM counterparties
           WHERE guild_id = p."guildId" AND counterparties.address = p.address AND outer_digits = p."outerDigits"
             AND seen_at > $2 LIMIT ${MAX_ALIKE}) AS c`,
      asJson(parties),
      now - COUNTERPARTY_MS,
    ),
  };
}

/** Addresses that a guild labeled or watches and that begin and end like one of the parties. */
async function namedLike(sql: Statements, parties: readonly GuildParty[]): Promise<TokenKnowledge['named']> {
  const within = `guild_id = p."guildId" AND address BETWEEN p."from" AND p."to" AND right(address, 4) = p.last`;
  const found = await sql.all<TokenKnowledge['named'][number]>(
    `SELECT p."guildId", n.* FROM json_to_recordset($1::json)
         AS p ("guildId" text, "from" text COLLATE "C", "to" text COLLATE "C", last text)
       CROSS JOIN LATERAL (
         (SELECT address, name AS label FROM labels WHERE ${within} LIMIT ${MAX_NAMED_ALIKE})
         UNION ALL (SELECT DISTINCT address, NULL FROM subscriptions WHERE ${within} LIMIT ${MAX_NAMED_ALIKE})) AS n`,
    asJson(parties.map((party) => ({ guildId: party.guildId, ...rangeOf(party) }))),
  );
  return namedOnce(found);
}

/** When the first two samples of each transfer's scope were taken beyond its block; in the order given. */
export async function passedAt(
  sql: Statements,
  asked: readonly { scope: number; block: number | null; at: number }[],
): Promise<number[][]> {
  const rows = await sql.all<{ place: number; at: number }>(
    `SELECT q.place, h.at FROM json_to_recordset($1::json) AS q (place int, scope bigint, block bigint, at bigint)
       CROSS JOIN LATERAL (
         SELECT at, block FROM heads
         WHERE heads.scope = q.scope AND heads.block > q.block AND heads.at > q.at - ${HEADS_MS} ORDER BY block LIMIT 2) AS h
     ORDER BY q.place, h.block`,
    asJson(asked.map((one, place) => ({ ...one, place }))),
  );
  const found = Map.groupBy(rows, ({ place }) => place);
  return asked.map((_, place) => (found.get(place) ?? []).map(({ at }) => at));
}

/** Stores what was learned, within the router's transaction. */
export async function keepLearned(sql: Statements, { catalog, counterparties, nativeSymbol, heads }: Learned) {
  if (catalog.length > 0) await putCatalog(sql, catalog);
  if (counterparties.length > 0) await putCounterparties(sql, counterparties);
  if (nativeSymbol !== null) {
    await sql.run(
      'INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
      META_KEYS.nativeSymbol,
      nativeSymbol,
    );
  }
  for (const head of heads) await advance(sql, head);
}

async function putCatalog(sql: Statements, catalog: Learned['catalog']): Promise<void> {
  const latest = new Map(catalog.map((found) => [found.token, found]));
  const rows = [...latest.values()].map((found) => ({
    ...found,
    skeleton: found.symbol === null ? null : skeleton(found.symbol),
  }));
  await sql.run(
    `INSERT INTO catalog (token, cataloged, symbol, name, skeleton, checked_at)
     SELECT token, cataloged, symbol, name, skeleton, "checkedAt" FROM json_to_recordset($1::json)
       AS c (token text, cataloged boolean, symbol text, name text, skeleton text, "checkedAt" bigint)
     ON CONFLICT (token) DO UPDATE SET cataloged = excluded.cataloged, symbol = excluded.symbol, name = excluded.name,
       skeleton = excluded.skeleton, checked_at = excluded.checked_at`,
    asJson(rows),
  );
}

async function putCounterparties(sql: Statements, counterparties: Learned['counterparties']): Promise<void> {
  const rows = counterparties.map((one) => ({ ...one, outerDigits: outerDigitsOf(one.counterparty) }));
  await sql.run(
    `INSERT INTO counterparties (guild_id, address, outer_digits, counterparty, seen_at)
     SELECT "guildId", address, "outerDigits", counterparty, max(at) FROM json_to_recordset($1::json)
       AS c ("guildId" text, address text, "outerDigits" text, counterparty text, at bigint) GROUP BY 1, 2, 3, 4
     ON CONFLICT (guild_id, address, outer_digits, counterparty) DO UPDATE SET seen_at = excluded.seen_at
       WHERE excluded.seen_at > counterparties.seen_at + ${COUNTERPARTY_REFRESH_MS}`,
    asJson(rows),
  );
}

async function advance(sql: Statements, { scope, ...head }: Learned['heads'][number]): Promise<void> {
  const last = await sql.all<Head>('SELECT at, block FROM heads WHERE scope = $1 ORDER BY at DESC LIMIT 3', scope);
  if (!isNextHead(last, head)) return;
  await sql.run('INSERT INTO heads (scope, at, block) VALUES ($1, $2, $3)', scope, head.at, head.block);
  await sql.run('DELETE FROM heads WHERE scope = $1 AND at < $2', scope, head.at - HEADS_MS);
}

/** Deletes what was last seen before a time; returns how many rows. */
export async function pruneKnowledge(sql: Statements, before: number, limit: number): Promise<number> {
  const counterparties = await sql.run(
    `DELETE FROM counterparties WHERE ctid = ANY(ARRAY(
       SELECT ctid FROM counterparties WHERE seen_at < $1 LIMIT $2))`,
    before,
    limit,
  );
  const catalog = await sql.run(
    'DELETE FROM catalog WHERE token = ANY(ARRAY(SELECT token FROM catalog WHERE checked_at < $1 LIMIT $2))',
    before,
    limit,
  );
  return counterparties + catalog;
}
