import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import pino from 'pino';
import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { logMigration } from '../../src/app/migration-progress.ts';
import { startBot, startInVain, temporaryFile } from '../lifecycle/bot.ts';
import { NEXT_SCHEMA, openExistingStore } from '../store/sqlite/database-file.ts';

it('logs the copy that a migration makes first, and each of its steps', async () => {
  const file = temporaryFile();
  openExistingStore(file).close();
  const bot = await startBot(file, { NEXT_SCHEMA, LOG_LEVEL: 'info' });
  expect(bot.log.filter(({ msg }) => msg.startsWith('migration'))).toMatchObject([
    { msg: 'migration: copying the database first', copy: expect.stringContaining('.before-schema-') },
    { msg: 'migration: step begun', step: 1, of: 1 },
    { msg: 'migration: done' },
  ]);
});

it('logs every ten seconds how far the copy or the step of a migration has come', () => {
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

it('refuses a migration without space for the copy of the database, and leaves the database as it was', async () => {
  const file = temporaryFile();
  openExistingStore(file).close();
  const before = readFileSync(file);
  const { code, stderr } = await startInVain(file, { NEXT_SCHEMA, FREE_BYTES: '1000' });
  expect([code, readFileSync(file).equals(before)]).toEqual([1, true]);
  const [, copy = ''] =
    /^Ledgerbell cannot start: the update needs \d+ MiB for a copy of the database \((.+)\), and 1 MiB are free\. Free up space/.exec(
      stderr,
    ) ?? [];
  expect(copy.replace(/\d+$/, '')).toBe(`${file}.before-schema-`);
  expect(existsSync(copy), 'whether a copy is left').toBe(false);
});
