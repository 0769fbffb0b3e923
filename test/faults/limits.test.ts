import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { logMigration } from '../../src/app/migration-progress.ts';
import { configWarnings } from '../../src/config.ts';
import { assertLimits } from '../../src/limits.ts';
import { startBot, startInVain, temporaryFile } from '../lifecycle/bot.ts';
import { NEXT_SCHEMA, openStoreBeside } from '../store/sqlite/beside.ts';

const MIB = 2 ** 20;

it('refuses to start with 128 MiB of memory, or with too few open files, and names what to raise', () => {
  const enough = { memoryBytes: 512 * MIB, openFiles: 1_024 };
  expect(() => assertLimits(enough)).not.toThrow();
  expect(() => assertLimits({ memoryBytes: null, openFiles: null })).not.toThrow();
  expect(() => assertLimits({ ...enough, memoryBytes: 128 * MIB })).toThrow(
    /128 MiB of memory and needs 192 MiB.*MemoryMax/,
  );
  expect(() => assertLimits({ ...enough, openFiles: 64 })).toThrow(/may open 64 files and needs 256.*LimitNOFILE/);
});

it('exits with 78 and the limit to raise when it may open too few files, and makes no database', async () => {
  const file = temporaryFile();
  const { code, stderr } = await startInVain(file, {}, ['sh', '-c', 'ulimit -n 64 && exec "$@"', 'sh']);
  expect([code, existsSync(file)]).toEqual([78, false]);
  expect(stderr).toMatch(/^Ledgerbell cannot start: it may open 64 files and needs 256\. .*LimitNOFILE/);
});

it.each(['-wal', '-shm', '.lock'])('exits with 78 and the file’s name when this user may not write %s', async (end) => {
  const file = temporaryFile();
  openStoreBeside(file).close();
  writeFileSync(file + end, '');
  chmodSync(file + end, 0o444);
  // The system's administrator may do everything, unless that is taken away.
  const asUser = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
  const { code, stderr } = await startInVain(file, {}, asUser);
  expect(code).toBe(78);
  expect(stderr).toContain(`'${file}${end}'`);
});

it('makes no database when the port is in use or the host is not one of this machine', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const port = String((server.address() as AddressInfo).port);
  const [used, nowhere] = [temporaryFile(), temporaryFile()];
  const [first, second] = await Promise.all([
    startInVain(used, { OPS_PORT: port }),
    startInVain(nowhere, { HOST: '203.0.113.1' }),
  ]);
  expect([first.code, existsSync(used)]).toEqual([1, false]);
  expect(first.stderr).toContain(`port ${port} on 127.0.0.1 is in use`);
  expect([second.code, existsSync(nowhere)]).toEqual([78, false]);
});

it('reports unknown variables that look like its own, with the probable one, and half-set groups', () => {
  expect(
    configWarnings({
      DISCORD_TOKEN: 'x',
      NOTIFICATION_APIKEY: 'secret',
      LOG_LEVL: 'debug',
      DISCORD_GUILD: '1',
      EXPLORER_API_KEY: 'secret',
      HOME: '/',
      PATH: '/bin',
    }),
  ).toEqual([
    'NOTIFICATION_APIKEY is not a variable of Ledgerbell; did you mean NOTIFICATION_API_KEY?',
    'LOG_LEVL is not a variable of Ledgerbell; did you mean LOG_LEVEL?',
    'DISCORD_GUILD is not a variable of Ledgerbell',
    'EXPLORER_API_KEY has no effect without EXPLORER_API_URL',
  ]);
});

it('logs each step of a migration and the copy that it makes first', async () => {
  const file = temporaryFile();
  openStoreBeside(file).close();
  const bot = await startBot(file, { NEXT_SCHEMA, LOG_LEVEL: 'info' });
  const said = bot.log.filter(({ msg }) => msg.startsWith('migration'));
  expect(said).toMatchObject([
    { msg: 'migration: copying the database first', copy: expect.stringContaining('.before-schema-') },
    { msg: 'migration: step begun', step: 1, of: 1 },
    { msg: 'migration: done' },
  ]);
});

it('logs every ten seconds how far the copy or the step of a migration is', () => {
  const clock = createManualClock();
  const lines: object[] = [];
  const log = pino(
    { base: null, timestamp: false },
    { write: (line: string) => void lines.push(JSON.parse(line) as object) },
  );
  const file = temporaryFile();
  const copy = `${file}.before-schema-9`;
  const { onProgress, stop } = logMigration(file, { clock, log });
  onProgress({ copy, bytes: 500 }, 'migration: copying the database first');
  writeFileSync(`${copy}.partial`, 'x'.repeat(200));
  clock.advance(20_000);
  onProgress({ step: 1, of: 2 }, 'migration: step begun');
  writeFileSync(`${file}-wal`, 'x'.repeat(70));
  clock.advance(10_000);
  stop();
  clock.advance(60_000);
  const working = { level: 30, msg: 'migration: still working' };
  expect(lines).toEqual([
    { level: 30, copy, bytes: 500, msg: 'migration: copying the database first' },
    { ...working, copy, bytes: 500, seconds: 10, writtenBytes: 200 },
    { ...working, copy, bytes: 500, seconds: 20, writtenBytes: 200 },
    { level: 30, step: 1, of: 2, msg: 'migration: step begun' },
    { ...working, step: 1, of: 2, seconds: 10, writtenBytes: 70 },
  ]);
});

it('refuses a migration without room for the copy of the database, and leaves the database as it was', async () => {
  const file = temporaryFile();
  openStoreBeside(file).close();
  const before = readFileSync(file);
  const { code, stderr } = await startInVain(file, { NEXT_SCHEMA, FREE_BYTES: '1000' });
  expect([code, readFileSync(file).equals(before)]).toEqual([1, true]);
  const [, copy = ''] =
    /^Ledgerbell cannot start: the update needs \d+ MiB for a copy of the database \((.+)\), and 1 MiB are free\. Free up space/.exec(
      stderr,
    ) ?? [];
  expect(copy.replace(/\d+$/, '')).toBe(`${file}.before-schema-`);
  expect(existsSync(copy)).toBe(false);
});
