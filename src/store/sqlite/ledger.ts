import type { Database } from 'better-sqlite3';
import type { AddressText } from '../../domain/address.ts';
import type { MessageRef } from '../../domain/batch.ts';
import { matchTransfer } from '../../domain/match.ts';
import type { Rehearsal, Wish } from '../../domain/rehearsal.ts';
import type { Asset, Subscription } from '../../domain/subscription.ts';
import type { KnownToken } from '../../domain/token.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { scopeLookUp } from './projects.ts';

const EXAMPLES = 3;

/** How many of a guild's latest decisions are looked at for its tokens. */
const LATEST = 2_000;
const MOST_TOKENS = 1_000;

/** A subscription that nobody paused, with no past. */
const UNDISTURBED = {
  id: 0,
  channelId: '',
  paused: false,
  mutedUntil: null,
  createdBy: '',
  createdAt: 0,
  lastEventAt: null,
  mentionedAt: null,
} satisfies Partial<Subscription>;

/** What moved at a guild's addresses, as far as it was seen. */
export function historyTable(db: Database) {
  // The latest messages with lines that show one of the addresses, found by the guild's channels.
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
     WHERE t.data ->> '$.from' IN named OR t.data ->> '$.to' IN named OR t.data ->> '$.token' IN named
     ORDER BY b.id DESC LIMIT @limit`,
  );
  const met = db
    .prepare<[string, number], string>(
      `SELECT t.data FROM decisions d JOIN transfers t ON t.id = d.transfer_id
       WHERE d.guild_id = ? ORDER BY d.at DESC LIMIT ?`,
    )
    .pluck();

  return {
    ...rehearsals(db),

    /**
     * The latest messages with lines, at most so many, that a guild was sent since a time, or will be sent as they were
     * rendered, and that show one of these addresses.
     */
    messagesShowing: (guildId: string, addresses: readonly AddressText[], since: number, limit: number): MessageRef[] =>
      showing.all({ guildId, addresses: JSON.stringify(addresses), since, limit }),

    /** Whom the guild's addresses dealt with in the latest so many decisions, the latest first. */
    counterparties(guildId: string, decisions: number): AddressText[] {
      const transfers = met.all(guildId, decisions).map((data) => JSON.parse(data) as Transfer);
      return [...new Set(transfers.flatMap(({ from, to }) => [from, to].filter((address) => address !== null)))];
    },
  };
}

/** What subscriptions would have told of what was seen. */
function rehearsals(db: Database) {
  const scopeOf = scopeLookUp(db);
  const latest = db.prepare<[number, number, number], { seenAt: number; data: string }>(
    'SELECT seen_at AS seenAt, data FROM transfers WHERE scope = ? AND seen_at >= ? ORDER BY seen_at DESC LIMIT ?',
  );
  const inCatalog = db.prepare<[string], 0 | 1 | null>('SELECT cataloged FROM catalog WHERE token = ?').pluck();

  return {
    /** What a subscription would have told since a time, of at most so many of the latest transfers; mutes set aside. */
    rehearse(wish: Wish, since: number, most: number): Rehearsal {
      const subscription: Subscription = { ...wish, ...UNDISTURBED };
      const context = {
        now: since,
        tokenMuted: () => false,
        cataloged(token: AddressText) {
          const known = inCatalog.get(token) ?? null;
          return known === null ? null : known === 1;
        },
      };
      const rehearsal: Rehearsal = { related: 0, told: 0, hidden: {}, examples: [], since: null, cut: null };
      let looked = 0;
      for (const { seenAt, data } of latest.iterate(scopeOf(wish.guildId), since, most + 1)) {
        if (++looked > most) {
          rehearsal.cut = most;
          break;
        }
        rehearsal.since = seenAt;
        // Most rows are of other addresses; reading them as JSON would take ten times as long.
        if (!data.includes(wish.address)) continue;
        const transfer = JSON.parse(data) as Transfer;
        const match = matchTransfer(subscription, transfer, context);
        if (match.outcome === 'unrelated') continue;
        rehearsal.related++;
        if (match.outcome === 'hidden') {
          rehearsal.hidden[match.reason] = (rehearsal.hidden[match.reason] ?? 0) + 1;
          continue;
        }
        rehearsal.told++;
        const { perspective } = match;
        if (rehearsal.examples.length < EXAMPLES) rehearsal.examples.push({ transfer, perspective, seenAt });
      }
      return rehearsal;
    },
  };
}

/** The tokens that a guild may mean by a symbol. */
export function tokensTable(db: Database) {
  // The tokens of a guild's latest decisions, the most frequent first; the native coin is one of its own.
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
    /** What moved at the guild's addresses, most often first, then what the explorer's catalogue has. */
    known(guildId: string): KnownToken[] {
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
