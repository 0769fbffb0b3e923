import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../../sandbox/discord/index.ts';
import { DAY, HOUR } from '../../../src/domain/clock.ts';
import { startDailyBackups } from '../../../src/store/sqlite/daily-backups.ts';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { stamp } from '../../../src/store/sqlite/files.ts';
import { temporaryFolder } from '../../folder.ts';

/** Daily backups of a database, by default in the folder next to it; there is no database yet. */
function start({ folder: name, keep }: { folder?: string; keep?: number } = {}) {
  const directory = temporaryFolder();
  const folder = join(directory, name ?? 'backups');
  const file = join(directory, 'bot.sqlite');
  const clock = createManualClock(Date.now());
  const configured = { ...(name && { folder }), ...(keep && { keep }) };
  const backups = startDailyBackups({ file, ...configured, clock, log: pino({ level: 'silent' }) });
  onTestFinished(backups.close);
  return {
    directory,
    clock,
    backups,
    open: () => onTestFinished(openDatabase(file).close),
    write(path: string, at = Date.now()): void {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, path), 'of a test');
      utimesSync(join(folder, path), at / 1_000, at / 1_000);
    },
    names: () => readdirSync(folder),
    /** Lets an hour pass, and waits for the backup that it may bring. */
    async hour(): Promise<void> {
      clock.advance(HOUR);
      await backups.idle();
    },
  };
}

it('backs a running bot up once a day and keeps seven daily backups and every other file', async () => {
  const { open, clock, backups, write, names, hour } = start();
  open();
  const daily = () => names().filter((name) => name.startsWith('daily-'));
  expect(backups.last()).toBeNull();
  const begun = clock.now();
  const earlier = Array.from({ length: 7 }, (_, day) => `daily-${stamp(begun - (7 - day) * DAY)}.sqlite`);
  for (const [day, name] of earlier.entries()) write(name, begun - (7 - day) * DAY);
  write('mine.sqlite', begun - 9 * DAY);
  // Of a process that was stopped while it copied.
  write('daily-2026-01-31T12-00-00-000Z.sqlite.partial');

  for (let times = 0; times < 2; times++) {
    await hour();
    expect(daily().slice(0, 6)).toEqual(earlier.slice(1));
    expect(daily()).toHaveLength(7);
  }
  expect(backups.last()).toBeGreaterThan(begun - DAY);
  expect(names()).toContain('mine.sqlite');
});

it('keeps the configured number of compressed daily backups in the configured folder', async () => {
  const { directory, open, clock, backups, names, hour } = start({ folder: 'other disk', keep: 1 });
  open();
  await hour();
  clock.advance(24 * HOUR);
  await backups.idle();
  expect(names()).toEqual([expect.stringMatching(/^daily-.*\.sqlite\.zst$/)]);
  expect(readdirSync(directory)).not.toContain('backups');
  expect(backups.last()).toBeGreaterThan(0);
});

it('retries a daily backup that fails', async () => {
  const { open, backups, hour } = start();
  await hour();
  expect(backups.last()).toBeNull();
  open();
  await hour();
  expect(backups.last()).not.toBeNull();
});

it('makes today’s backup once, and keeps and reports it, after a clock was a year ahead for a week', async () => {
  const { open, clock, backups, write, names, hour } = start();
  open();
  const ahead = Array.from({ length: 7 }, (_, day) => clock.now() + (365 + day) * 24 * HOUR);
  for (const time of ahead) write(`daily-${stamp(time)}.sqlite`, time);
  expect(backups.last()).toBeNull();
  const today = () => names().filter((name) => name < `daily-${stamp(ahead[0]!)}`);

  await hour();
  expect(today()).toHaveLength(1);
  expect(backups.last()).toBeLessThan(clock.now());

  await hour();
  expect(today()).toHaveLength(1);
  expect(names()).toHaveLength(7);
});
