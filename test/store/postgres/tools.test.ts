import { readdirSync } from 'node:fs';
import { beforeEach, describe, expect } from 'vitest';
import { startDiscord } from '../../../sandbox/discord/index.ts';
import { ledgerbell } from '../../bare-environment.ts';
import { temporaryFolder } from '../../folder.ts';
import { forFile } from '../../for-file.ts';
import { freeze, NOW, post, quarantine } from '../contract/given.ts';
import { onPostgres as it } from './on-postgres.ts';
import { openForTest } from './opened.ts';
import { isPostgresMissing } from './server.ts';

const discord = await forFile(startDiscord());
let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const run = (url: string, ...args: string[]) =>
  ledgerbell(args, { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl, DATABASE_URL: url }, folder);

async function fill(url: string): Promise<void> {
  const { store, close } = await openForTest(url);
  await quarantine(store, ['first', 'second']);
  await post(store, [1]);
  await store.outbox.deadLetter(await freeze(store, { payload: '{"content":"an alert"}' }), 'refused', NOW);
  await close();
}

describe.skipIf(isPostgresMissing())('the command line on Postgres', () => {
  it('checks the database: its server, its schema, and whether a process works', async ({ url }) => {
    expect((await run(url, 'check')).stdout).toMatch(
      /! Database +postgres:\/\/ledgerbell@\S+\/test_\d+, Postgres [\d.]+, has no tables; the first start creates them\n/,
    );
    await fill(url);
    expect(await run(url, 'check')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/✔ Database +postgres:\S+, Postgres [\d.]+, no process works on it, schema \d+\n/),
    });
    const process = await openForTest(url);
    await process.lock.acquire();
    expect((await run(url, 'check')).stdout).toContain(', a process works on it, ');
    await process.close();
  });

  it('reports a Postgres that cannot be reached, without the password', async () => {
    const { code, stdout } = await run('postgres://ledgerbell:hidden@127.0.0.1:1/bot', 'check');
    expect(stdout).toMatch(/✖ Database +postgres:\/\/ledgerbell@127\.0\.0\.1:1\/bot: .*ECONNREFUSED.*\n +→ Check that/);
    expect(stdout).not.toContain('hidden');
    expect(code).toBe(1);
  });

  it('lists, shows, replays and discards what is kept there', async ({ url }) => {
    await fill(url);
    const listed = await run(url, 'deadletters', 'list');
    expect(listed.stdout).toMatch(/sent\): 1\nd1 .* refused\n.*read\): 2\nq1 .*\nq2 .*\n$/);
    expect((await run(url, 'deadletters', 'show', 'd1')).stdout).toContain('{"content":"an alert"}');
    expect((await run(url, 'deadletters', 'show', 'q1')).stdout).toMatch(/5 bytes:\nfirst\n$/);
    expect(await run(url, 'deadletters', 'replay', 'd1', 'q1')).toMatchObject({
      code: 0,
      stdout: 'd1, q1: queued again. A running bot retries within a minute.\n',
    });
    expect(await run(url, 'deadletters', 'replay', 'q1')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^q1: not queued again\./),
    });
    expect((await run(url, 'deadletters', 'discard', 'all')).stdout).toMatch(/^Deleted 1 delivery\. /);
    expect((await run(url, 'deadletters', 'list')).stdout).toMatch(/sent\): 0\n.*read\): 0\n$/);
  });

  it('creates no tables for a look at the dead letters', async ({ url }) => {
    expect(await run(url, 'deadletters', 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^There is no Ledgerbell in postgres:/),
    });
    expect((await run(url, 'check')).stdout).toContain('has no tables');
  });

  it.for(['backup', 'restore'])('refuses %s, which is for files, and makes none', async (command, { url }) => {
    await fill(url);
    const args = command === 'restore' ? ['backup.sqlite'] : [];
    expect(await run(url, command, ...args)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^DATABASE_URL names a Postgres, .* pg_dump/),
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});
