import { openDatabase } from '../../src/store/sqlite/database.ts';
import { fileIn } from '../children.ts';
import { pruneAll } from './pruning.ts';

/** Adds alerts that wait for a Discord that does not respond, of transfers older than the retention time. */
export function addAlerts(folder: string, alerts: number, channels: readonly string[]): void {
  const { db, close } = openDatabase(fileIn(folder));
  const transfer = db.prepare(
    "INSERT INTO transfers (key, scope, tx_hash, seen_at, count, data) VALUES (?, 0, ?, ?, 1, '{}')",
  );
  const alert = db.prepare(
    "INSERT INTO alerts (transfer_id, guild_id, channel_id, matches, created_at) VALUES (?, '1', ?, '[]', ?)",
  );
  const now = Date.now();
  db.transaction(() => {
    for (let n = 0; n < alerts; n++) {
      const { lastInsertRowid } = transfer.run(`waiting-${n}`, `0x${n}`, now);
      alert.run(lastInsertRowid, channels[n % channels.length], now);
    }
  })();
  close();
}

/** The longest time, in milliseconds, that pruning blocks the writer while it deletes what {@link addAlerts} added. */
export function pruneAlerts(folder: string): number {
  const { db, close } = openDatabase(fileIn(folder));
  db.exec("UPDATE alerts SET state = 'sent'");
  const longest = pruneAll(db);
  close();
  return longest;
}
