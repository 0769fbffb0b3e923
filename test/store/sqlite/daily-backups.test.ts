import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createManualClock } from '../../../sandbox/discord/index.ts';
import { HOUR } from '../../../src/domain/clock.ts';
import { startDailyBackups } from '../../../src/store/sqlite/daily-backups.ts';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { backupFolder, stamp } from '../../../src/store/sqlite/files.ts';

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'daily-'));
  file = join(directory, 'bot.sqlite');
});
afterEach(() => rmSync(directory, { recursive: true }));

it('backs a running bot up once a day and keeps seven daily backups and every other file', async () => {
  const open = openDatabase(file);
  const clock = createManualClock(Date.now());
  const backups = startDailyBackups({ file, clock, log: pino({ level: 'silent' }) });
  const daily = () => readdirSync(backupFolder(file)).filter((name) => name.startsWith('daily-'));
  expect(backups.last()).toBeNull();

  clock.advance(HOUR);
  await backups.idle();
  expect(daily()).toHaveLength(1);
  expect(backups.last()).toBeGreaterThan(0);
  writeFileSync(join(backupFolder(file), 'mine.sqlite'), 'kept');

  clock.advance(HOUR);
  await backups.idle();
  expect(daily()).toHaveLength(1);

  // Of a process that was stopped while it copied.
  writeFileSync(join(backupFolder(file), 'daily-2026-01-31T12-00-00-000Z.sqlite.partial'), 'half');
  // The files have the real time, while this clock moves: from here on every look finds the last one old.
  clock.advance(24 * HOUR);
  const [first] = daily();
  for (let day = 0; day < 8; day++) {
    await backups.idle();
    clock.advance(HOUR);
  }
  await backups.close();
  expect(daily()).toHaveLength(7);
  expect(daily()).not.toContain(first);
  expect(readdirSync(backupFolder(file))).toContain('mine.sqlite');
  open.close();
});

it('keeps the configured number of compressed daily backups in the configured folder', async () => {
  const open = openDatabase(file);
  const clock = createManualClock(Date.now());
  const folder = join(directory, 'other disk');
  const backups = startDailyBackups({ file, folder, keep: 1, clock, log: pino({ level: 'silent' }) });
  for (const ms of [HOUR, 24 * HOUR]) {
    clock.advance(ms);
    await backups.idle();
  }
  await backups.close();
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^daily-.*\.sqlite\.zst$/)]);
  expect(readdirSync(directory)).not.toContain('backups');
  expect(backups.last()).toBeGreaterThan(0);
  open.close();
});

it('makes the next backup at the same time of the next day, even if the last one took long', async () => {
  const open = openDatabase(file);
  const clock = createManualClock(Date.now());
  mkdirSync(backupFolder(file));
  const last = join(backupFolder(file), 'daily-2026.sqlite');
  writeFileSync(last, 'of yesterday');
  const backups = startDailyBackups({ file, clock, log: pino({ level: 'silent' }) });
  for (const [hours, made] of [
    [23, 1],
    [24, 2],
  ] as const) {
    // The look is ten minutes from here.
    const seconds = (clock.now() + HOUR / 6 - hours * HOUR) / 1_000 + 20;
    utimesSync(last, seconds, seconds);
    clock.advance(HOUR);
    await backups.idle();
    expect(readdirSync(backupFolder(file))).toHaveLength(made);
  }
  await backups.close();
  open.close();
});

it('retries a daily backup that fails', async () => {
  const clock = createManualClock(Date.now());
  const backups = startDailyBackups({ file, clock, log: pino({ level: 'silent' }) });
  clock.advance(HOUR);
  await backups.idle();
  expect(backups.last()).toBeNull();
  const open = openDatabase(file);
  clock.advance(HOUR);
  await backups.idle();
  expect(backups.last()).not.toBeNull();
  await backups.close();
  open.close();
});

it('makes today’s backup once, and keeps and reports it, after a clock was a year ahead for a week', async () => {
  const open = openDatabase(file);
  const clock = createManualClock(Date.now());
  const ahead = Array.from({ length: 7 }, (_, day) => new Date(clock.now() + (365 + day) * 24 * HOUR));
  mkdirSync(backupFolder(file));
  for (const time of ahead) {
    const path = join(backupFolder(file), `daily-${stamp(time.getTime())}.sqlite`);
    writeFileSync(path, 'of a wrong clock');
    utimesSync(path, time, time);
  }
  const backups = startDailyBackups({ file, clock, log: pino({ level: 'silent' }) });
  expect(backups.last()).toBeNull();
  const today = () => readdirSync(backupFolder(file)).filter((name) => name < `daily-${stamp(ahead[0]!.getTime())}`);

  clock.advance(HOUR);
  await backups.idle();
  expect(today()).toHaveLength(1);
  expect(backups.last()).toBeLessThan(clock.now());

  clock.advance(HOUR);
  await backups.close();
  expect(today()).toHaveLength(1);
  expect(readdirSync(backupFolder(file))).toHaveLength(7);
  open.close();
});
