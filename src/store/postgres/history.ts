import type { AddressText } from '../../domain/address.ts';
import type { MessageRef } from '../../domain/batch.ts';
import type { RecentQuery, RecentTransfers } from '../../domain/dry-run.ts';
import { type KnownToken, MAX_LISTED, MAX_TOKEN_DECISIONS } from '../../domain/token.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { knownTokens, type SeenToken } from '../sql/rows.ts';
import type { Connection, Statements } from './connection.ts';
import { scopesOf } from './projects.ts';

/** Past transfers and messages. Every method stays within one guild. */
export function historyTable(db: Connection) {
  return {
    recentTransfers: (query: RecentQuery, limit: number) => db.read((sql) => recent(sql, query, limit)),

    /** Messages that show single alerts. Frozen ones count too, because they are rendered already. */
    messagesShowing: (guildId: string, addresses: readonly AddressText[], since: number, limit: number) =>
      db.reads.all<MessageRef>(
        `SELECT b.channel_id AS "channelId", b.reference FROM channels c JOIN batches b ON b.channel_id = c.channel_id
         WHERE c.guild_id = $1 AND b.kind = 'create' AND (b.state = 'frozen' OR b.state = 'sent' AND b.sent_at > $3)
           AND EXISTS (SELECT 1 FROM alerts a JOIN transfers t ON t.id = a.transfer_id
             WHERE a.batch_id = b.id AND (t.from_address = ANY($2::text[]) OR t.to_address = ANY($2::text[])
               OR t.token = ANY($2::text[])))
         ORDER BY b.id DESC LIMIT $4`,
        guildId,
        addresses,
        since,
        limit,
      ),

    async counterparties(guildId: string, decisions: number): Promise<AddressText[]> {
      const rows = await db.reads.all<{ from: AddressText | null; to: AddressText | null }>(
        `SELECT t.from_address AS "from", t.to_address AS "to" FROM decisions d JOIN transfers t ON t.id = d.transfer_id
         WHERE d.guild_id = $1 ORDER BY d.at DESC, d.id DESC LIMIT $2`,
        guildId,
        decisions,
      );
      return [...new Set(rows.flatMap(({ from, to }) => [from, to].filter((address) => address !== null)))];
    },
  };
}

/** Transfers that a subscription would have been asked about. */
async function recent(sql: Statements, query: RecentQuery, limit: number): Promise<RecentTransfers> {
  const { guildId, address, since, until, channelIds } = query;
  const scope = (await scopesOf(sql, [guildId])).get(guildId)!;
  // `limit` transfers, and the others that arrived in the same moment as the last of them.
  const range = await sql.get<{ seen: number; oldest: number | null }>(
    `WITH last (seen_at) AS (SELECT min(seen_at) FROM (
       SELECT seen_at FROM transfers WHERE scope = $1 AND seen_at BETWEEN $2 AND $3
       ORDER BY seen_at DESC LIMIT $4) AS latest)
     SELECT count(*) AS seen, min(t.seen_at) AS oldest FROM transfers t
     WHERE scope = $1 AND t.seen_at BETWEEN (SELECT seen_at FROM last) AND $3`,
    scope,
    since,
    until,
    limit,
  );
  const { seen, oldest } = range!;
  if (oldest === null) return { seen, oldest, involved: [] };
  const rows = await sql.all<{ seenAt: number; data: string; cataloged: boolean | null }>(
    `SELECT seen_at AS "seenAt", data, (SELECT cataloged FROM catalog WHERE catalog.token = transfers.token) AS cataloged
     FROM transfers
     WHERE scope = $1 AND seen_at BETWEEN $2 AND $3 AND $4 IN (from_address, to_address, token)
       AND ($6::text[] IS NULL OR EXISTS (SELECT 1 FROM decisions WHERE transfer_id = transfers.id
         AND guild_id = $5 AND channel_id = ANY($6::text[])))
     ORDER BY seen_at DESC, id DESC`,
    scope,
    oldest,
    until,
    address,
    guildId,
    channelIds,
  );
  const involved = rows.map(({ seenAt, data, cataloged }) => ({
    seenAt,
    transfer: JSON.parse(data) as Transfer,
    cataloged,
  }));
  return { seen, oldest, involved };
}

/** The tokens that a symbol may mean in a guild. */
export function tokensTable(db: Connection) {
  return {
    known: (guildId: string): Promise<KnownToken[]> =>
      db.read(async (sql) => {
        // Grouped by kind too: neither the native coin nor a token with an unknown contract has an address.
        const seen = await sql.all<SeenToken>(
          `SELECT t.token, max(t.kind) AS kind, max(t.token_symbol) AS symbol, max(t.token_type) AS type,
             (SELECT cataloged FROM catalog WHERE catalog.token = t.token) AS cataloged
           FROM transfers t JOIN (
             SELECT transfer_id FROM decisions WHERE guild_id = $1 ORDER BY at DESC, id DESC LIMIT ${MAX_TOKEN_DECISIONS}) d
             ON d.transfer_id = t.id
           GROUP BY t.token, t.kind = 'native' ORDER BY count(*) DESC, t.token`,
          guildId,
        );
        const listed = await sql.all<{ token: AddressText; symbol: string | null }>(
          `SELECT token, symbol FROM catalog WHERE cataloged AND symbol IS NOT NULL
           ORDER BY checked_at DESC, token LIMIT ${MAX_LISTED}`,
        );
        return knownTokens(seen, listed);
      }),
  };
}
