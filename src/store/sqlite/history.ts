import type { Database } from 'better-sqlite3';
import type { AddressText } from '../../domain/address.ts';
import type { MessageRef } from '../../domain/batch.ts';
import type { RecentQuery, RecentTransfers } from '../../domain/dry-run.ts';
import { type KnownToken, MAX_LISTED, MAX_TOKEN_DECISIONS } from '../../domain/token.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { knownTokens, type SeenToken } from '../sql/rows.ts';
import { scopeLookUp } from './projects.ts';

type RecentRange = { scope: number; since: number; until: number; limit: number };

/** Past transfers and messages. Every method stays within one guild. */
export function historyTable(db: Database) {
  // Messages that show single alerts. Frozen ones count too, because they are rendered already.
  const showing = db.prepare<{ guildId: string; addresses: string; since: number; limit: number }, MessageRef>(
    `WITH named (address) AS (SELECT value FROM json_each(@addresses)),
       rendered AS (
         SELECT b.id, b.channel_id, b.reference FROM channels c CROSS JOIN batches b ON b.channel_id = c.channel_id
         WHERE c.guild_id = @guildId AND b.state = 'sent' AND b.sent_at > @since AND b.kind = 'create'
         UNION ALL
         SELECT b.id, b.channel_id, b.reference FROM channels c CROSS JOIN batches b ON b.channel_id = c.channel_id
         WHERE c.guild_id = @guildId AND b.state = 'frozen' AND b.kind = 'create')
     SELECT DISTINCT b.channel_id AS channelId, b.reference
     FROM rendered b CROSS JOIN alerts a ON a.batch_id = b.id JOIN transfers t ON t.id = a.transfer_id
     WHERE t.from_address IN named OR t.to_address IN named OR t.token IN named
     ORDER BY b.id DESC LIMIT @limit`,
  );
  const recent = recentReader(db);
  const met = db
    .prepare<[string, number], string>(
      `SELECT t.data FROM decisions d JOIN transfers t ON t.id = d.transfer_id
       WHERE d.guild_id = ? ORDER BY d.at DESC LIMIT ?`,
    )
    .pluck();

  return {
    recentTransfers: (query: RecentQuery, limit: number): RecentTransfers => recent(query, limit),

    messagesShowing: (guildId: string, addresses: readonly AddressText[], since: number, limit: number): MessageRef[] =>
      showing.all({ guildId, addresses: JSON.stringify(addresses), since, limit }),

    counterparties(guildId: string, decisions: number): AddressText[] {
      const transfers = met.all(guildId, decisions).map((data) => JSON.parse(data) as Transfer);
      return [...new Set(transfers.flatMap(({ from, to }) => [from, to].filter((address) => address !== null)))];
    },
  };
}

/** Transfers that a subscription would have been asked about. */
function recentReader(db: Database) {
  const scopeOf = scopeLookUp(db);
  // `limit` transfers, and the others that arrived in the same moment as the last of them.
  const seen = db.prepare<RecentRange, { seen: number; oldest: number | null }>(
    `WITH last (seen_at) AS (SELECT min(seen_at) FROM (
       SELECT seen_at FROM transfers WHERE scope = @scope AND seen_at BETWEEN @since AND @until
       ORDER BY seen_at DESC LIMIT @limit))
     SELECT count(*) AS seen, min(transfers.seen_at) AS oldest FROM transfers, last
     WHERE scope = @scope AND transfers.seen_at BETWEEN last.seen_at AND @until`,
  );
  const involved = db.prepare<
    { scope: number; from: number; until: number; address: string; guildId: string; channelIds: string | null },
    { seenAt: number; data: string; cataloged: 0 | 1 | null }
  >(
    `SELECT seen_at AS seenAt, data, (SELECT cataloged FROM catalog WHERE catalog.token = transfers.token) AS cataloged
     FROM transfers
     WHERE scope = @scope AND seen_at BETWEEN @from AND @until
       AND @address IN (from_address, to_address, token)
       AND (@channelIds IS NULL OR EXISTS (SELECT 1 FROM decisions WHERE transfer_id = transfers.id
         AND guild_id = @guildId AND channel_id IN (SELECT value FROM json_each(@channelIds))))
     ORDER BY seen_at DESC`,
  );
  return db.transaction(
    ({ guildId, address, since, until, channelIds }: RecentQuery, limit: number): RecentTransfers => {
      const scope = scopeOf(guildId);
      const range = seen.get({ scope, since, until, limit })!;
      if (range.oldest === null) return { ...range, involved: [] };
      const rows = involved.all({
        scope,
        from: range.oldest,
        until,
        address,
        guildId,
        channelIds: channelIds && JSON.stringify(channelIds),
      });
      return {
        ...range,
        involved: rows.map(({ seenAt, data, cataloged }) => ({
          seenAt,
          transfer: JSON.parse(data) as Transfer,
          cataloged: cataloged === null ? null : cataloged === 1,
        })),
      };
    },
  );
}

/** The tokens that a symbol may mean in a guild. */
export function tokensTable(db: Database) {
  // Grouped by kind too: neither the native coin nor a token with an unknown contract has an address.
  const seenTokens = db.prepare<[string, number], SeenToken>(
    `SELECT t.token, t.kind, t.token_symbol AS symbol, t.token_type AS type,
       (SELECT cataloged FROM catalog WHERE catalog.token = t.token) AS cataloged
     FROM transfers t JOIN (SELECT transfer_id FROM decisions WHERE guild_id = ? ORDER BY at DESC LIMIT ?) d
       ON d.transfer_id = t.id
     GROUP BY 1, kind = 'native' ORDER BY count(*) DESC`,
  );
  const cataloged = db.prepare<[number], { token: AddressText; symbol: string | null }>(
    'SELECT token, symbol FROM catalog WHERE cataloged = 1 AND symbol IS NOT NULL ORDER BY checked_at DESC LIMIT ?',
  );
  return {
    known: (guildId: string): KnownToken[] =>
      knownTokens(seenTokens.all(guildId, MAX_TOKEN_DECISIONS), cataloged.all(MAX_LISTED)),
  };
}
