import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { accepted, type Bot, startBot, startInVain, temporaryFile } from '../../lifecycle/bot.ts';
import { until } from '../../until.ts';
import { received } from '../contract/given.ts';
import { bodiesIn, openExistingStore, pagesOf, withStore, writeBack } from './database-file.ts';

const PAGE = 4_096;

function zero(file: string, pages: readonly number[]): void {
  const bytes = readFileSync(file);
  for (const page of pages) bytes.fill(0, (page - 1) * PAGE, page * PAGE);
  writeFileSync(file, bytes);
}

async function untilStopped(bot: Bot): Promise<{ code: number | null; stderr: string; acknowledged: string[] }> {
  const acknowledged: string[] = [];
  let refused = 0;
  await until('the bot refuses a delivery', async () => {
    const body = `delivery ${acknowledged.length} ${refused}`;
    const status = await bot.post(body);
    if (status === 200) acknowledged.push(body);
    if (status === 503) refused++;
    return refused > 0;
  });
  expect(await bot.database()).toMatchObject({
    status: 503,
    ready: false,
    detail: expect.stringContaining('npm run restore'),
  });
  for (let n = 0; n < 10; n++) expect(await bot.post(`refused ${n}`)).toBe(503);
  return { ...(await bot.ended()), acknowledged };
}

it.each(['transfers', 'alerts', 'batches', 'inbox', 'decisions'])(
  'refuses to start with exit code 78 when pages of the table %s were zeroed while the bot was stopped',
  async (table) => {
    const file = temporaryFile();
    openExistingStore(file).close();
    zero(file, pagesOf(file, table));
    const damaged = readFileSync(file);
    const { code, stderr } = await startInVain(file);
    expect(code).toBe(78);
    expect(stderr).toMatch(
      /^Ledgerbell cannot start: .*bot\.sqlite is damaged: .*npm run restore -- <backup>\. Backups are in .*backups.*\n$/,
    );
    expect(readFileSync(file).equals(damaged), 'whether the file is as it was').toBe(true);
  },
);

it('refuses to start with exit code 78 when the first page of the database was zeroed', async () => {
  const file = temporaryFile();
  openExistingStore(file).close();
  zero(file, [1]);
  const { code, stderr } = await startInVain(file);
  expect(code).toBe(78);
  expect(stderr).toMatch(/bot\.sqlite cannot be used as the database: .*damaged.*npm run restore/);
});

it('returns 503, turns /readyz red and exits with 78 when pages are zeroed while the bot runs', async () => {
  const file = temporaryFile();
  const bot = await startBot(file, { LOG_LEVEL: 'info' });
  await accepted(() => bot.post('before'));
  // Of a file that is in use, only what was written back can be damaged, and nothing may be written after that.
  await until('the delivery is quarantined', () =>
    withStore(file, async ({ quarantine }) => (await quarantine.list()).length === 1),
  );
  writeBack(file);
  zero(file, [...pagesOf(file, 'transfers'), ...pagesOf(file, 'inbox'), ...pagesOf(file, 'quarantine')]);
  const { code, stderr } = await untilStopped(bot);
  expect(code).toBe(78);
  expect(stderr).toMatch(
    /^Ledgerbell stopped: The database .*bot\.sqlite is damaged: .*npm run restore -- <backup>\. Backups are in .*backups.*\n$/,
  );
  const reports = bot.log.filter(({ msg }) => msg.startsWith('the database cannot be used'));
  expect(reports).toHaveLength(1);
  expect(bot.log.map(({ msg }) => msg)).not.toContainEqual(expect.stringMatching(/^routing failed/));
});

const WAYS: [string, (file: string) => void][] = [
  ['the database is removed', (file) => rmSync(file)],
  ['the database is moved away', (file) => renameSync(file, `${file}.moved`)],
  ['the log of the database is removed', (file) => rmSync(`${file}-wal`)],
  ['the index of the log is removed', (file) => rmSync(`${file}-shm`)],
  [
    'a copy replaces the database',
    (file) => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
  ],
];

it.each(WAYS)(
  'acknowledges nothing more, names the file and what to do, and exits with 78 when %s',
  async (_what, act) => {
    const file = temporaryFile();
    const bot = await startBot(file, { LOG_LEVEL: 'info' });
    await accepted(() => bot.post('before'));
    act(file);
    const { code, stderr, acknowledged } = await untilStopped(bot);
    expect(code).toBe(78);
    expect(acknowledged).toEqual([]);
    expect(stderr).toMatch(
      /^Ledgerbell stopped: .*bot\.sqlite\S* was (removed|replaced) while .* Put it back, or restore the newest backup/,
    );
  },
);

it('notices within seconds that the database was removed, though nothing arrives and nobody asks', async () => {
  const file = temporaryFile();
  const bot = await startBot(file, { LOG_LEVEL: 'info' });
  rmSync(file);
  expect((await bot.ended()).code).toBe(78);
  expect(bot.log.map(({ msg }) => msg)).toContainEqual(expect.stringMatching(/^the database cannot be used/));
});

it('leaves the log of a database alone that was put in the place of the open one', async () => {
  const [file, other] = [temporaryFile(), temporaryFile()];
  const bot = await startBot(file);
  const { store } = openExistingStore(other);
  await store.inbox.append([received('theirs')]);
  for (const end of ['', '-wal']) {
    copyFileSync(other + end, `${file}${end}.new`);
    renameSync(`${file}${end}.new`, file + end);
  }
  expect((await bot.ended()).code).toBe(78);
  expect(existsSync(`${file}-wal`), 'whether there is a -wal file').toBe(true);
  rmSync(`${file}-shm`, { force: true });
  expect(bodiesIn(file)).toEqual(['theirs']);
});
