import Database from 'better-sqlite3';
import { DAY } from '../../src/domain/clock.ts';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { fileIn } from '../children.ts';

/** The fill factor of an index whose keys came in random order. */
const USED = 0.7;
/** What every transaction hash ends with. */
const REST = '39280cfd5fd828293d0351fda88e6f5078db095c63db164c8af7c4f5';

/**
 * Adds transfers of the last 30 days that nobody watched, each with a delivery. Random only where it matters, and
 * written without the log, because 50 million are needed within minutes.
 */
export function fillSeen(folder: string, rows: number): void {
  const file = fileIn(folder);
  openDatabase(file).close();
  const db = new Database(file);
  // Required to turn the journal off.
  db.unsafeMode(true);
  for (const setting of ['journal_mode = OFF', 'synchronous = OFF', 'foreign_keys = OFF', 'cache_size = -200000']) {
    db.pragma(setting);
  }
  const seenAt = `${Date.now() - 29 * DAY} + n * ${(29 * DAY) / rows}`;
  const counted = (from: number, to: number) =>
    `WITH RECURSIVE counted (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM counted WHERE n < ${to - 1})`;
  // Hashes increase, so that the index is written sequentially; the second part fills the gaps of the first.
  const insert = (from: number, to: number) =>
    db.exec(`${counted(from, to)}
      INSERT INTO transfers (id, key, scope, network, tx_hash, seen_at, count, reorganized, data)
      SELECT n + 1, lower(hex(randomblob(16))), 0, 0, hash, CAST(${seenAt} AS INTEGER), 1, 0,
        '{"kind":"native","txHash":"' || hash || '","from":"0x331c1b0cdce2e9223c707cf07c6515c75ad95b6b"' ||
        ',"to":"0x1ea1f375b5da185eb51edcbed23f3d401f8368ce","token":null,"value":"' || (n * 1000) ||
        '","tokenId":null,"tokenIdExact":true,"tokenType":"Native","tokenName":null,"tokenSymbol":null,"decimals":18' ||
        ',"internal":false,"blockNumber":18226326' ||
        ',"blockHash":"0x724bfcb22f0dcabed508b0074832e5901de0e4b6ae0ff09b6843dd87a36de2e3","gasFee":null}'
      FROM (SELECT n, printf('0x%08x${REST}', (n - ${from}) * ${2 ** 32} / ${to - from}) AS hash FROM counted LIMIT -1)`);
  const first = Math.round(rows * USED);
  insert(0, first);
  insert(first, rows);
  db.exec(`${counted(0, rows)}
    INSERT INTO deliveries (transfer_id, key, count, received, seen_at, last_at, run, window_ms, in_window, project_id,
      address_type, direction)
    SELECT n + 1, lower(hex(randomblob(16))), 1, 1, CAST(${seenAt} AS INTEGER), CAST(${seenAt} AS INTEGER),
      'sixteen-letters!', n, 1, '62caedf9e2719e72815d0703', 'wallet', 'incoming' FROM counted`);
  db.pragma('journal_mode = WAL');
  db.close();
}

/** Reads the index of the keys, so that it is in the system's memory, as with a bot that has run for long. */
export function readKeys(folder: string): void {
  const db = new Database(fileIn(folder), { readonly: true });
  db.prepare("SELECT count(*) FROM transfers INDEXED BY transfers_key WHERE substr(tx_hash, 3, 8) >= ''").get();
  db.close();
}
