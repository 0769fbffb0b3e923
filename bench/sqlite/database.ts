import Database from 'better-sqlite3';
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

/** What waits in a bot's database, counted outside the bot: asking it would slow down what is measured. */
export function openWaiting(file: string) {
  const db = new Database(file, { readonly: true, timeout: 5_000 });
  const inbox = db.prepare<[], { n: number }>('SELECT count(*) AS n FROM inbox');
  const alerts = db.prepare<[], { n: number }>("SELECT count(*) AS n FROM alerts WHERE state <> 'sent'");
  return {
    waiting: async () => ({ inbox: inbox.get()!.n, alerts: alerts.get()!.n }),
    close: async () => void db.close(),
  };
}
