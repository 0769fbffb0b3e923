import { outerDigitsOf } from '../../domain/address.ts';
import { HEADS_MS, type Head, isNextHead, type Learned } from '../../domain/routing.ts';
import {
  COUNTERPARTY_MS,
  COUNTERPARTY_REFRESH_MS,
  MAX_ALIKE,
  type ObservedTransfer,
  type TokenKnowledge,
} from '../../domain/scam.ts';
import { skeleton } from '../../domain/text.ts';
import { type KnownToken, MAX_LISTED, MAX_TOKEN_DECISIONS } from '../../domain/token.ts';
import { otherSides } from '../../domain/transfer.ts';
import { insertAll, part, type QueriesOf, raw, report, rows, type Sql } from '../sql.ts';
import type { Tokens } from '../store.ts';
import { META_KEYS, putValue } from './meta.ts';

export const tokens: QueriesOf<Tokens> = {
  known: report(async (sql, guildId, network) => {
    // The native coin has no address, nor has a token with an unknown contract, which is left out.
    const seen = await sql.all<KnownToken>`
      SELECT asset AS token, network, max(symbol) AS symbol, 1 AS seen_flag, coalesce((
          SELECT cataloged FROM catalog WHERE network = moved.network AND token = moved.asset), 0) AS cataloged_flag
      FROM (
        SELECT t.network, CASE WHEN t.kind = 'native' THEN 'native' ELSE t.token END AS asset,
          CASE WHEN t.kind = 'native' THEN t.token_type ELSE t.token_symbol END AS symbol
        FROM (SELECT transfer_id FROM decisions WHERE guild_id = ${guildId} ORDER BY at DESC, id DESC
          LIMIT ${MAX_TOKEN_DECISIONS}) d JOIN transfers t ON t.id = d.transfer_id
        WHERE t.network = coalesce(${network ?? null}, t.network)) AS moved
      WHERE asset IS NOT NULL GROUP BY network, asset ORDER BY count(*) DESC, asset`;
    const listed = await sql.all<KnownToken>`
      SELECT token, network, symbol, 0 AS seen_flag, 1 AS cataloged_flag FROM catalog
      WHERE cataloged = 1 AND symbol IS NOT NULL AND network = coalesce(${network ?? null}, network)
      ORDER BY checked_at DESC, token LIMIT ${MAX_LISTED}`;
    const keyOf = ({ network: on, token }: KnownToken) => `${on} ${token}`;
    const met = new Set(seen.map(keyOf));
    return [...seen, ...listed.filter((token) => !met.has(keyOf(token)))];
  }),
};

export async function readKnowledge(
  sql: Sql,
  observed: readonly ObservedTransfer[],
  now: number,
): Promise<Omit<TokenKnowledge, 'nativeSymbols'>> {
  const [tokens, skeletons] = [new Map<string, object>(), new Map<string, object>()];
  /** Whose look-alikes are searched for among the counterparties of an address, and among what a guild named or watches. */
  const [parties, guildParties] = [new Map<string, object>(), new Map<string, object>()];
  for (const { network, transfer, watchers } of observed) {
    const { token, tokenSymbol } = transfer;
    if (token) tokens.set(`${network} ${token}`, { network, token });
    const text = token && tokenSymbol && skeleton(tokenSymbol);
    if (text) skeletons.set(`${network} ${text}`, { network, skeleton: text });
    for (const { guildId, address } of watchers) {
      for (const party of otherSides({ address }, transfer)) {
        if (!party) continue;
        const outerDigits = outerDigitsOf(party);
        parties.set(`${guildId} ${address} ${outerDigits}`, { guildId, address, outerDigits });
        guildParties.set(`${guildId} ${outerDigits}`, { guildId, outerDigits });
      }
      if (!token) continue;
      // A contract that the guild has named counts as known if no explorer can tell.
      const outerDigits = outerDigitsOf(token);
      guildParties.set(`${guildId} ${outerDigits}`, { guildId, outerDigits });
    }
  }
  const alike = part`n.guild_id = p.guild_id AND substr(n.address, 39) = substr(p.outer_digits, 5)
    AND n.address BETWEEN '0x' || substr(p.outer_digits, 1, 4) AND '0x' || substr(p.outer_digits, 1, 4) || 'g'`;
  // Of servers with 50,000 subscriptions Postgres would rather read all: a quarter of a second for each commit.
  const near = (table: string) =>
    part`FROM ${rows(guildParties.values(), 'p (guild_id text, outer_digits text)')} CROSS JOIN ${{
      postgres: part`LATERAL (SELECT * FROM ${raw(table)} n WHERE ${alike} OFFSET 0)`,
      sqlite: raw(table),
    }} n WHERE ${alike}`;
  return {
    catalog: await sql.all`
      SELECT c.network, c.token, cataloged AS cataloged_flag, symbol, name, checked_at
      FROM ${rows(tokens.values(), 'r (network bigint, token text)')} CROSS JOIN catalog c
      WHERE c.network = r.network AND c.token = r.token`,
    genuine: await sql.all`
      SELECT network, skeleton, token FROM (
        SELECT c.network, c.skeleton, c.token,
          row_number() OVER (PARTITION BY c.network, c.skeleton ORDER BY c.token) AS n
        FROM ${rows(skeletons.values(), 'r (network bigint, skeleton text)')} CROSS JOIN catalog c
        WHERE c.network = r.network AND c.skeleton = r.skeleton AND c.cataloged = 1) AS alike
      WHERE n <= ${MAX_ALIKE}`,
    // A guild's label comes before a subscription to the same address.
    named: await sql.all`
      SELECT guild_id, address, max(label) AS label FROM (
        SELECT p.guild_id, n.address, n.name AS label ${near('labels')}
        UNION ALL SELECT p.guild_id, n.address, NULL ${near('subscriptions')}) AS named
      GROUP BY guild_id, address ORDER BY max(label) IS NULL, address`,
    counterparties: await sql.all`
      SELECT c.guild_id, c.address, c.counterparty, c.seen_at, c.paid AS is_paid_flag
      FROM ${rows(parties.values(), 'p (guild_id text, address text, outer_digits text)')} CROSS JOIN counterparties c
      WHERE c.guild_id = p.guild_id AND c.address = p.address AND c.outer_digits = p.outer_digits
        AND c.seen_at > ${now - COUNTERPARTY_MS}`,
  };
}

export async function keepLearned(sql: Sql, learned: Learned): Promise<void> {
  const catalog = new Map<string, object>();
  for (const found of learned.catalog) {
    const { network, token, symbol } = found;
    catalog.set(`${network} ${token}`, { ...found, skeleton: symbol === null ? null : skeleton(symbol) });
  }
  await insertAll(sql, 'catalog', [...catalog.values()], { key: 'network, token' });

  const counterparties = new Map<string, object>();
  for (const { isPaid: paid, ...noted } of learned.counterparties) {
    const { guildId, address, counterparty } = noted;
    const row = { ...noted, outerDigits: outerDigitsOf(counterparty), paid };
    counterparties.set(`${guildId} ${address} ${counterparty}`, row);
  }
  await insertAll(sql, 'counterparties', [...counterparties.values()], {
    rest: `ON CONFLICT (guild_id, address, outer_digits, counterparty) DO UPDATE SET seen_at = excluded.seen_at,
      paid = CASE WHEN excluded.paid > counterparties.paid THEN excluded.paid ELSE counterparties.paid END
      WHERE excluded.seen_at > counterparties.seen_at + ${COUNTERPARTY_REFRESH_MS}
        OR excluded.paid > counterparties.paid`,
  });

  for (const { network, symbol } of learned.nativeSymbols)
    await putValue(sql, META_KEYS.nativeSymbol + network, symbol);

  for (const { scope, ...head } of learned.heads) {
    const latest = await sql.all<Head>`SELECT at, block FROM heads WHERE scope = ${scope} ORDER BY at DESC LIMIT 3`;
    if (!isNextHead(latest, head)) continue;
    await insertAll(sql, 'heads', [{ scope, ...head }]);
    await sql.run`DELETE FROM heads WHERE scope = ${scope} AND at < ${head.at - HEADS_MS}`;
  }
}

/** Listed tokens stay: strangers cannot add any, and one that leaves after months then needs no look-up. */
export async function pruneKnowledge(sql: Sql, before: number, limit: number): Promise<number> {
  const counterparties = await sql.run`
    DELETE FROM counterparties WHERE (guild_id, address, outer_digits, counterparty) IN (
      SELECT guild_id, address, outer_digits, counterparty FROM counterparties WHERE seen_at < ${before}
      LIMIT ${limit})`;
  const catalog = await sql.run`
    DELETE FROM catalog WHERE (network, token) IN (
      SELECT network, token FROM catalog WHERE checked_at < ${before} AND coalesce(cataloged, 0) = 0 LIMIT ${limit})`;
  return counterparties + catalog;
}
