import type { Database } from 'better-sqlite3';
import { forgetting } from './database.ts';
import { bloomFilters, emptyFilter, note } from './filters.ts';

/** An epoch holds so many transfers: those with the same `id >> 17`, by which their index begins. */
const SIZE = 2 ** 17;
/** Rows that a step reads. */
const STEP = 2_000;

/** Every epoch of which transfers are left, as a table of one column, `epoch`; the last row is null. */
export const EVERY_EPOCH = `(WITH RECURSIVE epochs (epoch) AS (
    SELECT min(id) >> 17 FROM transfers
    UNION ALL SELECT (SELECT min(id) >> 17 FROM transfers WHERE id >= (epoch + 1) << 17) FROM epochs
      WHERE epoch IS NOT NULL)
  SELECT epoch FROM epochs)`;

/** Tells in which epochs a transaction's transfers may be, so that few are asked however many were seen. */
export interface Epochs {
  /** Those that may hold transfers of the transaction, the newest first; every one that does is among them. */
  of(txHash: string): number[];
  /** A transfer was added: what is known of its epoch says nothing of it. */
  added(id: number): void;
  /** A step of taking down what full epochs hold, and of forgetting it once they are empty; false: nothing is left to do. */
  takeDown(): boolean;
}

/**
 * The ledger's epochs. A new transfer is written where the index's latest epoch is, instead of anywhere in it; a full
 * epoch has a Bloom filter in memory, made once and kept in the table `epochs`, because it would have to be asked
 * for every new transfer otherwise. A filter is gone with the first transfer that comes to its epoch after it.
 */
export function ledgerEpochs(db: Database): Epochs {
  const every = db.prepare<[], number>(`SELECT epoch FROM ${EVERY_EPOCH} WHERE epoch IS NOT NULL`).pluck();
  const latest = db.prepare<[], number>('SELECT coalesce(max(id), 0) >> 17 FROM transfers').pluck();
  const stored = db.prepare<[], { epoch: number; bloom: Buffer }>('SELECT epoch, bloom FROM epochs');
  const store = db.prepare<[number, Uint8Array]>('INSERT OR REPLACE INTO epochs (epoch, bloom) VALUES (?, ?)');
  const forget = db.prepare<[number]>('DELETE FROM epochs WHERE epoch = ?');
  const next = db
    .prepare<[number, string], string>(
      `SELECT substr(tx_hash, 3, 8) FROM transfers WHERE id >> 17 = ? AND substr(tx_hash, 3, 8) > ?
       ORDER BY substr(tx_hash, 3, 8) LIMIT ${STEP}`,
    )
    .pluck();

  const filters = bloomFilters();
  for (const { epoch, bloom } of stored.iterate()) filters.add(epoch, bloom);
  const open = new Set([latest.get()!, ...every.all()]);
  for (const epoch of filters.epochs()) open.delete(epoch);
  let making: { epoch: number; filter: Uint8Array; after: string } | null = null;

  /** Forgets one epoch of which nothing is left; false when there is none. */
  function forgetEmpty(): boolean {
    const left = new Set([latest.get()!, ...every.all()]);
    const empty = [...filters.epochs(), ...open].find((epoch) => !left.has(epoch));
    if (empty === undefined) return false;
    if (filters.remove(empty)) forget.run(empty);
    open.delete(empty);
    return true;
  }

  /** The oldest epoch that is full and has no filter. */
  function begin(): typeof making {
    const epoch = Math.min(...open);
    if (open.size === 0 || epoch >= latest.get()!) return null;
    const filter = emptyFilter();
    // Of a hash that is too short to begin with anything.
    note(filter, '');
    return { epoch, filter, after: '' };
  }

  function step(): boolean {
    if (!making && forgetEmpty()) return true;
    making ??= begin();
    if (!making) return false;
    const { epoch, filter, after } = making;
    const prefixes = next.all(epoch, after);
    for (const prefix of prefixes) note(filter, prefix);
    if (prefixes.length === STEP) {
      making.after = prefixes.at(-1)!;
      return true;
    }
    store.run(epoch, filter);
    filters.add(epoch, filter);
    open.delete(epoch);
    making = null;
    return true;
  }
  const takeDown = db.transaction(step);

  return {
    of(txHash) {
      const found = [...open, ...filters.of(txHash.slice(2, 10))];
      return found.length === 1 ? found : found.sort((a, b) => b - a);
    },
    added(id) {
      const epoch = Math.floor(id / SIZE);
      if (making?.epoch === epoch) making = null;
      if (open.has(epoch)) return;
      open.add(epoch);
      filters.remove(epoch);
    },
    takeDown: () => forgetting(db, () => takeDown.immediate()),
  };
}
