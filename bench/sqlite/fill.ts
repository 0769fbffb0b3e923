import { openDatabase } from '../../src/store/sqlite/database.ts';
import { fileIn } from '../children.ts';
import { addressOf } from '../event.ts';

/**
 * Subscriptions to this many addresses, in these channels in turn; without `guildId` in this many guilds. Written to the
 * tables, because a million through the port take minutes.
 */
export function fill(folder: string, addresses: number, channels: readonly string[], guildId?: string): void {
  const { db, close } = openDatabase(fileIn(folder));
  const insert = db.prepare(
    "INSERT INTO subscriptions (guild_id, channel_id, address, created_by, created_at) VALUES (?, ?, ?, '1', 0)",
  );
  db.transaction(() => {
    for (let n = 0; n < addresses; n++) {
      const channel = n % channels.length;
      insert.run(guildId ?? String(1 + Math.floor(channel / 50)), channels[channel], addressOf(n));
    }
  })();
  close();
}
