import type { Database } from 'better-sqlite3';
import type { AddressText } from '../domain/address.ts';
import type { Asset } from '../domain/subscription.ts';

/** A token that a server may mean by its symbol. Names come from the chain: hostile text. */
export interface KnownToken {
  token: Asset;
  symbol: string | null;
  /** The explorer's catalogue has it. */
  cataloged: boolean;
  /** It moved at one of the server's watched addresses lately. */
  seen: boolean;
}

/** How many of a server's latest decisions are looked at for its tokens. */
const LATEST = 2_000;
const MOST_TOKENS = 1_000;

/** Questions about what was seen; only reads, so that it can have a connection of its own. */
export function ledgerTable(db: Database) {
  const seenTokens = db.prepare<
    [string, number],
    { token: AddressText | null; kind: string; symbol: string | null; type: string | null; cataloged: 0 | 1 | null }
  >(
    `SELECT json_extract(t.data, '$.token') AS token, json_extract(t.data, '$.kind') AS kind,
       json_extract(t.data, '$.tokenSymbol') AS symbol, json_extract(t.data, '$.tokenType') AS type,
       (SELECT cataloged FROM catalog WHERE catalog.token = json_extract(t.data, '$.token')) AS cataloged
     FROM transfers t JOIN (SELECT transfer_id FROM decisions WHERE guild_id = ? ORDER BY at DESC LIMIT ?) d
       ON d.transfer_id = t.id
     GROUP BY 1, kind = 'native' ORDER BY count(*) DESC`,
  );
  const catalogued = db.prepare<[number], { token: AddressText; symbol: string | null }>(
    'SELECT token, symbol FROM catalog WHERE cataloged = 1 AND symbol IS NOT NULL ORDER BY checked_at DESC LIMIT ?',
  );

  return {
    /** What moved at the server's addresses, most often first, then what the explorer's catalogue has. */
    tokens(guildId: string): KnownToken[] {
      const found = new Map<Asset, KnownToken>();
      for (const { token, kind, symbol, type, cataloged } of seenTokens.all(guildId, LATEST)) {
        const asset = kind === 'native' ? 'native' : token;
        if (asset === null) continue;
        const named = asset === 'native' ? type : symbol;
        found.set(asset, { token: asset, symbol: named, cataloged: cataloged === 1, seen: true });
      }
      for (const { token, symbol } of catalogued.all(MOST_TOKENS)) {
        if (!found.has(token)) found.set(token, { token, symbol, cataloged: true, seen: false });
      }
      return [...found.values()];
    },
  };
}
