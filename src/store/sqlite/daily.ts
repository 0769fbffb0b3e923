import { execFile } from 'node:child_process';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { type Clock, DAY, HOUR, MINUTE } from '../../domain/clock.ts';
import { backupFolder, stamp } from './folder.ts';

/** Copying takes its time, so by the same look of the next day a copy is not quite as old. */
const DUE_MS = DAY - HOUR / 2;
/** Until then a bot that has just started has more urgent things to do. */
const FIRST_LOOK_MS = 10 * MINUTE;
/** Daily backups that are kept; those with other names are the operator's and stay. */
const KEPT = 7;
const PROGRAM = resolve(import.meta.dirname, '../../ledgerbell.ts');

/**
 * Backs the database up once a day and keeps seven. A process of its own does it, so that copying and verifying hold up
 * neither the receiver nor the database's thread.
 */
export function startDailyBackups({ file, clock, log }: { file: string; clock: Clock; log: Logger }) {
  const folder = backupFolder(file);
  const stopped = new AbortController();
  let running: Promise<void> | null = null;

  const names = (prefix: string, end = '.sqlite') => {
    try {
      return readdirSync(folder).filter((name) => name.startsWith(prefix) && name.endsWith(end));
    } catch {
      return [];
    }
  };
  const newest = (prefix: string): number | null => {
    const times = names(prefix).map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0);
    // A file of the future is from a clock that was set back since: it tells nothing of today's.
    const past = times.filter((time) => time < clock.now() + DAY);
    return past.length === 0 ? null : Math.max(...past);
  };

  async function backUp(): Promise<void> {
    const target = join(folder, `daily-${stamp(clock.now())}.sqlite`);
    try {
      // A bot that was stopped while it copied left half a copy, as large as the database, that nothing else removes.
      for (const half of names('daily-', '.sqlite.partial')) rmSync(join(folder, half), { force: true });
      const env = { DATABASE_URL: `sqlite:${file}` };
      await promisify(execFile)(process.execPath, [PROGRAM, 'backup', target], { env, signal: stopped.signal });
      // A name that comes after this one's is from a clock that was ahead: it counts as the oldest.
      const isAhead = (name: string) => Number(join(folder, name) > target);
      const oldestFirst = names('daily-').sort((a, b) => isAhead(b) - isAhead(a) || (a < b ? -1 : 1));
      for (const old of oldestFirst.slice(0, -KEPT)) rmSync(join(folder, old), { force: true });
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
  let cancel = clock.after(FIRST_LOOK_MS, look);

  return {
    /** When the newest backup in the database's folder was made; null when there is none. */
    last: () => newest(''),
    /** Settles once no backup is under way. */
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
