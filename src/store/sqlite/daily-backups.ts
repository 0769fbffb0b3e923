import { execFile } from 'node:child_process';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { type Clock, DAY, HOUR, MINUTE } from '../../domain/clock.ts';
import { BACKUP_SUFFIX, backupFolder, stamp } from './files.ts';

/** Slightly less than a day: copying takes time, so at the next day's check the copy is not quite a day old. */
const DUE_MS = DAY - HOUR / 2;
/** A bot that starts has more urgent work. */
const FIRST_CHECK_MS = 10 * MINUTE;
const PROGRAM = resolve(import.meta.dirname, '../../main.ts');

/**
 * A separate process copies and verifies, so that neither the receiver nor the database's thread is delayed. Files with
 * other names than daily backups belong to the operator and stay.
 */
export function startDailyBackups(options: {
  file: string;
  folder?: string | undefined;
  keep?: number;
  clock: Clock;
  log: Logger;
}) {
  const { file, folder = backupFolder(file), keep = 7, clock, log } = options;
  const stopped = new AbortController();
  let running: Promise<void> | null = null;

  const names = (prefix: string, end = BACKUP_SUFFIX) => {
    try {
      return readdirSync(folder).filter((name) => name.startsWith(prefix) && end.test(name));
    } catch {
      return [];
    }
  };
  const newest = (prefix: string): number | null => {
    const times = names(prefix).map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0);
    // A file from the future comes from a clock that was set back since. It is not today's backup.
    const past = times.filter((time) => time < clock.now() + DAY);
    return past.length === 0 ? null : Math.max(...past);
  };

  async function backUp(): Promise<void> {
    const target = join(folder, `daily-${stamp(clock.now())}.sqlite.zst`);
    try {
      // A bot that was killed during a copy leaves a partial file, which nothing else removes.
      for (const half of names('daily-', /\.partial$/)) rmSync(join(folder, half), { force: true });
      const env = { DATABASE_URL: `sqlite:${file}` };
      await promisify(execFile)(process.execPath, [PROGRAM, 'backup', target], { env, signal: stopped.signal });
      // A later name comes from a clock that was ahead. It counts as the oldest.
      const isAhead = (name: string) => Number(join(folder, name) > target);
      const oldestFirst = names('daily-').sort((a, b) => isAhead(b) - isAhead(a) || (a < b ? -1 : 1));
      for (const old of oldestFirst.slice(0, -keep)) rmSync(join(folder, old), { force: true });
      log.info({ target }, 'backed up');
    } catch (error) {
      if (!stopped.signal.aborted) log.error({ err: error }, 'daily backup failed; retrying in an hour');
    }
  }

  const look = () => {
    cancel = clock.after(HOUR, look);
    if (running || clock.now() - (newest('daily-') ?? 0) < DUE_MS) return;
    running = backUp().finally(() => {
      running = null;
    });
  };
  let cancel = clock.after(FIRST_CHECK_MS, look);

  return {
    last: () => newest(''),
    async idle(): Promise<void> {
      await running;
    },
    async close(): Promise<void> {
      cancel();
      stopped.abort();
      await running;
    },
  };
}
