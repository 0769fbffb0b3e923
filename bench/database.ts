import Database from 'better-sqlite3';
import pg from 'pg';
import { databaseFile, isPostgres } from '../src/config.ts';
import { openPostgresForCopy } from '../src/store/postgres/open.ts';
import { insertAll } from '../src/store/sql.ts';
import { openFileForCopy } from '../src/store/sqlite/tools.ts';
import { addressOf } from './event.ts';

const MAX_ROWS = 10_000;

const fileOf = (url: string): string => databaseFile({ DATABASE_URL: url });

export const databaseIn = (folder: string): string => `sqlite:${folder}/bot.sqlite`;

/** Written past the port, through which a million rows take minutes. */
export async function insertRows(url: string, count: number, tables: Record<string, (n: number) => object>) {
  const role = { isSource: false };
  await using database = await (isPostgres(url) ? openPostgresForCopy(url, role) : openFileForCopy(fileOf(url), role));
  await database.run('write', async (sql) => {
    // Indexes whose keys come in random order stay in memory.
    if (sql.engine === 'sqlite') await sql.run`PRAGMA cache_size = -200000`;
    for (const [table, row] of Object.entries(tables))
      for (let from = 0; from < count; from += MAX_ROWS) {
        const rows = Array.from({ length: Math.min(MAX_ROWS, count - from) }, (_, index) => row(from + index));
        await insertAll(sql, table, rows);
      }
  });
}

/** Channels take turns; without `guildId` there is a guild for each 50 channels. */
export function fill(url: string, addresses: number, channels: readonly string[], guildId?: string): Promise<void> {
  const subscriptions = (n: number) => {
    const channel = n % channels.length;
    const guild = guildId ?? String(1 + Math.floor(channel / 50));
    return { guildId: guild, channelId: channels[channel], address: addressOf(n), createdBy: '1', createdAt: 0 };
  };
  return insertRows(url, addresses, { subscriptions });
}

interface Waiting {
  inbox: number;
  alerts: number;
}

const WAITING = `SELECT (SELECT CAST(count(*) AS integer) FROM inbox) AS inbox,
  (SELECT CAST(count(*) AS integer) FROM alerts WHERE state <> 'sent') AS alerts`;

/** Counts outside the bot: asking it would slow down what is measured. */
export async function openWaiting(url: string) {
  if (isPostgres(url)) {
    const client = new pg.Client(url);
    await client.connect();
    return { waiting: async () => (await client.query<Waiting>(WAITING)).rows[0]!, close: () => client.end() };
  }
  const db = new Database(fileOf(url), { readonly: true, timeout: 5_000 });
  const statement = db.prepare<[], Waiting>(WAITING);
  return { waiting: async () => statement.get()!, close: async () => void db.close() };
}
