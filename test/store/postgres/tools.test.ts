import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type Discord, startDiscord } from '../../../sandbox/discord/index.ts';
import { BARE_ENVIRONMENT } from '../../bare-environment.ts';
import { freeze, NOW, post, quarantine } from '../contract/given.ts';
import { onPostgres as it } from './on-postgres.ts';
import { openForTest } from './opened.ts';
import { isPostgresMissing } from './server.ts';

const PROGRAM = resolve('src/main.ts');

let discord: Discord;
let folder: string;

beforeAll(async () => {
  if (isPostgresMissing()) return;
  discord = await startDiscord();
  folder = mkdtempSync(join(tmpdir(), 'tools-'));
});
afterAll(async () => {
  await discord?.close();
  if (folder) rmSync(folder, { recursive: true });
});

/** Runs the operator's command line in an empty folder. */
async function ledgerbell(url: string, ...args: string[]) {
  const env = {
    ...BARE_ENVIRONMENT,
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    DATABASE_URL: url,
  };
  const done = await promisify(execFile)(process.execPath, [PROGRAM, ...args], { env, cwd: folder }).catch(
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  return { code: 'code' in done ? done.code : 0, stdout: done.stdout, stderr: done.stderr };
}

/** A database with its tables, into which a stopped bot wrote two unreadable deliveries and a dead letter. */
async function fill(url: string): Promise<void> {
  const { store, close } = await openForTest(url);
  await quarantine(store, ['first', 'second']);
  await post(store, [1]);
  await store.outbox.deadLetter(await freeze(store, { payload: '{"content":"an alert"}' }), 'refused', NOW);
  await close();
}

describe.skipIf(isPostgresMissing())('the command line on Postgres', () => {
  it('checks the database: its server, its schema, and whether a process works', async ({ url }) => {
    expect((await ledgerbell(url, 'check')).stdout).toMatch(
      /! Database +postgres:\/\/ledgerbell@\S+\/test_\d+, Postgres [\d.]+, has no tables; the first start creates them\n/,
    );
    await fill(url);
    expect(await ledgerbell(url, 'check')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/✔ Database +postgres:\S+, Postgres [\d.]+, no process works on it, schema \d+\n/),
    });
    const process = await openForTest(url);
    await process.lock.acquire();
    expect((await ledgerbell(url, 'check')).stdout).toContain(', a process works on it, ');
    await process.close();
  });

  it('reports a Postgres that cannot be reached, without the password', async () => {
    const { code, stdout } = await ledgerbell('postgres://ledgerbell:hidden@127.0.0.1:1/bot', 'check');
    expect(stdout).toMatch(/✖ Database +postgres:\/\/ledgerbell@127\.0\.0\.1:1\/bot: .*ECONNREFUSED.*\n +→ Check that/);
    expect(stdout).not.toContain('hidden');
    expect(code).toBe(1);
  });

  it('lists, shows, replays and discards what is kept there', async ({ url }) => {
    await fill(url);
    const listed = await ledgerbell(url, 'deadletters', 'list');
    expect(listed.stdout).toMatch(/sent\): 1\nd1 .* refused\n.*read\): 2\nq1 .*\nq2 .*\n$/);
    expect((await ledgerbell(url, 'deadletters', 'show', 'd1')).stdout).toContain('{"content":"an alert"}');
    expect((await ledgerbell(url, 'deadletters', 'show', 'q1')).stdout).toMatch(/5 bytes:\nfirst\n$/);
    expect(await ledgerbell(url, 'deadletters', 'replay', 'd1', 'q1')).toMatchObject({
      code: 0,
      stdout: 'd1, q1 are queued again; a running bot retries within a minute.\n',
    });
    expect(await ledgerbell(url, 'deadletters', 'replay', 'q1', 'q2')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^There is no q1\. /),
    });
    expect((await ledgerbell(url, 'deadletters', 'discard', 'all')).stdout).toMatch(/^Deleted 1 delivery\. /);
    expect((await ledgerbell(url, 'deadletters', 'list')).stdout).toMatch(/sent\): 0\n.*read\): 0\n$/);
  });

  it('creates no tables for a look at the dead letters', async ({ url }) => {
    expect(await ledgerbell(url, 'deadletters', 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^There is no Ledgerbell in postgres:/),
    });
    expect((await ledgerbell(url, 'check')).stdout).toContain('has no tables');
  });

  it.for(['backup', 'restore'])('refuses %s, which is for files, and makes none', async (command, { url }) => {
    await fill(url);
    const args = command === 'restore' ? [PROGRAM] : [];
    expect(await ledgerbell(url, command, ...args)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^DATABASE_URL names a Postgres, .* pg_dump/),
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});
