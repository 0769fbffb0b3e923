import type { Database } from 'better-sqlite3';
import type { AddressText } from '../../domain/address.ts';
import {
  COUNTERPARTY_MS,
  COUNTERPARTY_REFRESH_MS,
  MAX_ALIKE,
  MAX_NAMED_ALIKE,
  outerDigitsOf,
  skeleton,
} from '../../domain/guard.ts';
import { knowledgeQuery, namedOnce, rangeOf } from '../../domain/knowledge.ts';
import { HEADS_MS, type Head, isNextHead } from '../../domain/lateness.ts';
import type { CatalogEntry, Learned, ObservedTransfer, TokenKnowledge } from '../../domain/routing.ts';
import type { Watcher } from '../../domain/subscription.ts';
import { META_KEYS } from '../sql/rows.ts';

interface CatalogRow extends Omit<CatalogEntry, 'cataloged'> {
  cataloged: 0 | 1 | null;
}

/** The tables behind warnings. They are read for the deliveries of one commit and written with it. */
export function guardTables(db: Database) {
  return { ...knowledgeReader(db), ...knowledgeWriter(db) };
}

function knowledgeReader(db: Database) {
  const entry = db.prepare<[string], CatalogRow>(
    'SELECT token, cataloged, symbol, name, checked_at AS checkedAt FROM catalog WHERE token = ?',
  );
  const genuine = db.prepare<[string], { token: AddressText }>(
    `SELECT token FROM catalog WHERE skeleton = ? AND cataloged = 1 LIMIT ${MAX_ALIKE}`,
  );
  const native = db.prepare<[], { value: string }>(`SELECT value FROM meta WHERE key = '${META_KEYS.nativeSymbol}'`);
  /** Addresses of a guild that begin and end with the same digits. A range uses the index, then the end is compared. */
  const within = '= ? AND address BETWEEN ? AND ? AND substr(address, -4) = ?';
  const labeled = db.prepare<[string, string, string, string], { address: AddressText; label: string }>(
    `SELECT address, name AS label FROM labels WHERE guild_id ${within} LIMIT ${MAX_NAMED_ALIKE}`,
  );
  const watched = db.prepare<[string, string, string, string], { address: AddressText; label: null }>(
    `SELECT DISTINCT address, NULL AS label FROM subscriptions WHERE guild_id ${within} LIMIT ${MAX_NAMED_ALIKE}`,
  );
  const dealt = db.prepare<[string, string, string, number], TokenKnowledge['counterparties'][number]>(
    `SELECT guild_id AS guildId, address, counterparty, seen_at AS seenAt FROM counterparties
     WHERE guild_id = ? AND address = ? AND outer_digits = ? AND seen_at > ? LIMIT ${MAX_ALIKE}`,
  );
  const highest = db.prepare<[number], number | null>('SELECT max(block) FROM heads WHERE scope = ?').pluck();
  // The first two samples beyond the block.
  const later = db
    .prepare<[number, number, number], number>(
      'SELECT at FROM heads WHERE scope = ? AND block > ? AND at > ? ORDER BY block LIMIT 2',
    )
    .pluck();

  return {
    /** Returns what is known about the tokens and parties of watched transfers. */
    read(observed: readonly (ObservedTransfer & { watchers: Watcher[] })[], now: number): TokenKnowledge {
      const { tokens, skeletons, parties, guildParties } = knowledgeQuery(observed);
      const named = guildParties.flatMap((party) => {
        const { from, to, last } = rangeOf(party);
        const range = [party.guildId, from, to, last] as const;
        return [...labeled.all(...range), ...watched.all(...range)].map((row) => ({ guildId: party.guildId, ...row }));
      });
      return {
        catalog: tokens
          .flatMap((token) => entry.get(token) ?? [])
          .map((row) => ({ ...row, cataloged: row.cataloged === null ? null : row.cataloged === 1 })),
        genuine: skeletons.flatMap((text) => genuine.all(text).map(({ token }) => ({ skeleton: text, token }))),
        nativeSymbol: native.get()?.value ?? null,
        named: namedOnce(named),
        counterparties: parties.flatMap(({ guildId, address, outerDigits }) =>
          dealt.all(guildId, address, outerDigits, now - COUNTERPARTY_MS),
        ),
      };
    },

    /** Returns a function for one commit: when the first two samples of a scope were taken beyond a block. */
    passedAt() {
      const heads = new Map<number, number>();
      return (scope: number, block: number | null, at: number): number[] => {
        const head = heads.get(scope) ?? highest.get(scope) ?? -1;
        heads.set(scope, head);
        return block === null || block >= head ? [] : later.all(scope, block, at - HEADS_MS);
      };
    },
  };
}

function knowledgeWriter(db: Database) {
  const putEntry = db.prepare<CatalogRow & { skeleton: string | null }>(
    `INSERT INTO catalog (token, cataloged, symbol, name, skeleton, checked_at)
     VALUES (@token, @cataloged, @symbol, @name, @skeleton, @checkedAt)
     ON CONFLICT (token) DO UPDATE SET cataloged = @cataloged, symbol = @symbol, name = @name, skeleton = @skeleton,
       checked_at = @checkedAt`,
  );
  const putNative = db.prepare<[string]>(
    `INSERT OR REPLACE INTO meta (key, value) VALUES ('${META_KEYS.nativeSymbol}', ?)`,
  );
  const putCounterparty = db.prepare<[string, string, string, string, number]>(
    `INSERT INTO counterparties (guild_id, address, outer_digits, counterparty, seen_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET seen_at = excluded.seen_at WHERE excluded.seen_at > seen_at + ${COUNTERPARTY_REFRESH_MS}`,
  );
  const lastHeads = db.prepare<[number], Head>('SELECT at, block FROM heads WHERE scope = ? ORDER BY at DESC LIMIT 3');
  const putHead = db.prepare<[number, number, number]>('INSERT INTO heads (scope, at, block) VALUES (?, ?, ?)');
  const dropHeads = db.prepare<[number, number]>('DELETE FROM heads WHERE scope = ? AND at < ?');
  const pruneCounterparties = db.prepare<[number, number]>(
    `DELETE FROM counterparties WHERE (guild_id, address, outer_digits, counterparty) IN (
       SELECT guild_id, address, outer_digits, counterparty FROM counterparties WHERE seen_at < ? LIMIT ?)`,
  );
  const pruneCatalog = db.prepare<[number, number]>(
    'DELETE FROM catalog WHERE token IN (SELECT token FROM catalog WHERE checked_at < ? LIMIT ?)',
  );

  function advance({ scope, ...head }: Learned['heads'][number]): void {
    if (!isNextHead(lastHeads.all(scope), head)) return;
    putHead.run(scope, head.at, head.block);
    dropHeads.run(scope, head.at - HEADS_MS);
  }

  return {
    /** Stores what was learned, within the caller's transaction. */
    keep({ catalog, counterparties, nativeSymbol, heads }: Learned): void {
      for (const found of catalog) {
        putEntry.run({
          ...found,
          cataloged: found.cataloged === null ? null : found.cataloged ? 1 : 0,
          skeleton: found.symbol === null ? null : skeleton(found.symbol),
        });
      }
      for (const { guildId, address, counterparty, at } of counterparties) {
        putCounterparty.run(guildId, address, outerDigitsOf(counterparty), counterparty, at);
      }
      if (nativeSymbol !== null) putNative.run(nativeSymbol);
      heads.forEach(advance);
    },

    /** Deletes what was last seen before a time; returns how many rows. */
    prune: (before: number, limit: number): number =>
      pruneCounterparties.run(before, limit).changes + pruneCatalog.run(before, limit).changes,
  };
}
