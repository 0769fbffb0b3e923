import { DAY } from '../../src/domain/clock.ts';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { fileIn } from '../children.ts';

/** Adds transfers of the last 30 days that nobody watched, each with a delivery. Random only where it matters. */
export function fillSeen(folder: string, rows: number): void {
  const { db, close } = openDatabase(fileIn(folder));
  const seenAt = `CAST(${Date.now() - 29 * DAY} + n * ${(29 * DAY) / rows} AS INTEGER)`;
  const counted = `WITH RECURSIVE counted (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n < ${rows - 1})`;
  // The indexes, whose keys come in random order, stay in memory.
  db.pragma('cache_size = -200000');
  db.transaction(() => {
    db.exec(`${counted}
      INSERT INTO transfers (id, key, scope, network, tx_hash, seen_at, count, reorganized, data)
      SELECT n + 1, lower(hex(randomblob(16))), 0, 0, hash, ${seenAt}, 1, 0,
        '{"kind":"native","txHash":"' || hash || '","from":"0x331c1b0cdce2e9223c707cf07c6515c75ad95b6b"' ||
        ',"to":"0x1ea1f375b5da185eb51edcbed23f3d401f8368ce","token":null,"value":"' || (n * 1000) ||
        '","tokenId":null,"tokenIdExact":true,"tokenType":"Native","tokenName":null,"tokenSymbol":null,"decimals":18' ||
        ',"internal":false,"blockNumber":18226326' ||
        ',"blockHash":"0x724bfcb22f0dcabed508b0074832e5901de0e4b6ae0ff09b6843dd87a36de2e3","gasFee":null}'
      FROM (SELECT n, '0x' || lower(hex(randomblob(32))) AS hash FROM counted LIMIT -1)`);
    db.exec(`${counted}
      INSERT INTO deliveries (transfer_id, key, count, received, seen_at, last_at, run, window_ms, in_window, project_id,
        address_type, direction)
      SELECT n + 1, lower(hex(randomblob(16))), 1, 1, ${seenAt}, ${seenAt},
        'sixteen-letters!', n, 1, '62caedf9e2719e72815d0703', 'wallet', 'incoming' FROM counted`);
  })();
  close();
}
