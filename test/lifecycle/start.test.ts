import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { type Discord, seed, startDiscord } from '../../sandbox/discord/index.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrations } from '../../src/store/migrations.ts';
import { payment, TREASURY } from '../pipeline/harness.ts';
import { bodiesIn, startBot, startInVain, temporaryFile } from './bot.ts';

const ROWS = 100_000;
const CHANNEL = seed.harbor.alerts;

function read<T>(file: string, sql: string): T[] {
  const db = new Database(file, { readonly: true });
  const rows = db.prepare<[], T>(sql).all();
  db.close();
  return rows;
}

it('a second process on the same file ends with a message that names the file; the first one goes on', async () => {
  const file = temporaryFile();
  const bot = await startBot(file);
  const { code, stderr } = await startInVain(file);
  expect(code).toBe(1);
  expect(stderr).toContain(`Another process is using ${file}.`);
  expect(stderr).toContain('DATABASE_URL');
  expect(await bot.post('still here')).toBe(200);
});

it('a database of a newer version ends the start with a message, and is not touched', async () => {
  const file = temporaryFile();
  openDatabase(file).close();
  const newer = new Database(file);
  newer.pragma(`user_version = ${migrations.length + 1}`);
  newer.exec('CREATE TABLE of_the_future (a)');
  newer.close();
  const { code, stderr } = await startInVain(file);
  expect(code).toBe(1);
  expect(stderr).toContain(`${file} was written by a newer Ledgerbell (schema ${migrations.length + 1}`);
  expect(read(file, 'PRAGMA user_version')).toEqual([{ user_version: migrations.length + 1 }]);
  expect(read(file, 'SELECT * FROM of_the_future')).toEqual([]);
});

it('a port that is in use ends the start with a message, and gives the database back', async () => {
  const file = temporaryFile();
  const bot = await startBot(temporaryFile());
  const port = new URL(bot.receiver).port;
  const { code, stderr } = await startInVain(file, { PORT: port });
  expect(code).toBe(1);
  expect(stderr).toContain(`port ${port} on 127.0.0.1 is in use`);
  openDatabase(file).close();
});

const NEXT_SCHEMA = `CREATE TABLE next_version (a); INSERT INTO next_version VALUES (1);
  ALTER TABLE guilds ADD COLUMN next_version TEXT; UPDATE quarantine SET reason = 'changed';`;

it('a migration that is killed leaves the old schema, with a copy from before; the next start completes it', async () => {
  const file = temporaryFile();
  const first = await startBot(file);
  expect(await first.post('kept')).toBe(200);
  first.kill('SIGTERM');
  await first.ended;
  const before = read(file, 'SELECT name, sql FROM sqlite_master ORDER BY name');

  for (let round = 0; round < 3; round++) {
    const killed = await startInVain(file, { NEXT_SCHEMA, CRASH_POINT: 'migration uncommitted' });
    expect(killed.signal).toBe('SIGKILL');
    expect(read(file, 'PRAGMA user_version')).toEqual([{ user_version: migrations.length }]);
    expect(read(file, 'SELECT name, sql FROM sqlite_master ORDER BY name')).toEqual(before);
    expect(read(file, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(bodiesIn(file)).toEqual(['kept']);
  }
  const copy = `${file}.before-schema-${migrations.length + 1}`;
  expect(bodiesIn(copy)).toEqual(['kept']);
  expect(existsSync(`${copy}.partial`)).toBe(false);

  const second = await startBot(file, { NEXT_SCHEMA });
  expect(read(file, 'PRAGMA user_version')).toEqual([{ user_version: migrations.length + 1 }]);
  expect(read(file, 'SELECT a FROM next_version')).toEqual([{ a: 1 }]);
  expect(await second.post('more')).toBe(200);
});

it('the first migration that is killed leaves nothing behind', async () => {
  const file = temporaryFile();
  const killed = await startInVain(file, { CRASH_POINT: 'migration uncommitted' });
  expect(killed.signal).toBe('SIGKILL');
  expect(read(file, 'SELECT name FROM sqlite_master')).toEqual([]);
  expect(await (await startBot(file)).post('works')).toBe(200);
});

async function standIn(): Promise<Discord> {
  const discord = await startDiscord({ limits: 'none' });
  onTestFinished(() => discord.close());
  return discord;
}

/** A database in which one channel watches the treasury, filled by `sql`; `n` counts to 100,000 in it. */
function fill(file: string, sql: string, values: Record<string, string> = {}): void {
  const { db, close } = openDatabase(file);
  db.prepare(
    `INSERT INTO subscriptions (guild_id, channel_id, address, created_by, created_at) VALUES (?, ?, ?, ?, 1)`,
  ).run(seed.harbor.id, CHANNEL, TREASURY, seed.ada);
  db.exec(`CREATE TEMP TABLE n AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ${ROWS})
           SELECT i FROM c`);
  for (const statement of sql.split(';')) db.prepare(statement).run(values);
  close();
}

async function resumes(file: string): Promise<void> {
  const discord = await standIn();
  const began = performance.now();
  const bot = await startBot(file, { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl });
  expect(await bot.post('not understood')).toBe(200);
  await discord.until(() => discord.messages(CHANNEL).length > 0);
  expect(performance.now() - began).toBeLessThan(5_000);
}

it('a start with 100,000 deliveries that wait to be routed resumes within 5 s', async () => {
  const file = temporaryFile();
  // The same transfer in so many transactions.
  const body = JSON.stringify(payment({ txHash: 'HASH' }));
  fill(
    file,
    `INSERT INTO inbox (scope, received_at, body)
     SELECT 0, 1767225600000, CAST(replace(@body, 'HASH', '0x' || printf('%064x', i)) AS BLOB) FROM n`,
    { body },
  );
  await resumes(file);
});

it('a start with 100,000 alerts that wait for their message resumes within 5 s', async () => {
  const file = temporaryFile();
  const scratch = temporaryFile();
  // What the ledger writes for one such transfer, copied from a bot that routed it.
  const discord = await standIn();
  fill(scratch, 'SELECT 1');
  const bot = await startBot(scratch, { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl });
  expect(await bot.post(JSON.stringify(payment()))).toBe(200);
  await discord.until(() => discord.messages(CHANNEL).length > 0);
  const [{ data } = { data: '' }] = read<{ data: string }>(scratch, 'SELECT data FROM transfers');
  const [{ matches } = { matches: '' }] = read<{ matches: string }>(scratch, 'SELECT matches FROM alerts');
  fill(
    file,
    `INSERT INTO channels (channel_id, guild_id) VALUES ('${CHANNEL}', '${seed.harbor.id}');
     INSERT INTO transfers (id, key, scope, tx_hash, seen_at, count, bodies, data)
       SELECT i, 'key ' || i, 0, '0x' || printf('%064x', i), 1767225600000, 1, 1, @data FROM n;
     INSERT INTO alerts (transfer_id, guild_id, channel_id, matches, created_at)
       SELECT i, '${seed.harbor.id}', '${CHANNEL}', '${matches}', 1767225600000 FROM n`,
    { data },
  );
  await resumes(file);
});
