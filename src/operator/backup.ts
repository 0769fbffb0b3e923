import { readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '../domain/clock.ts';
import { UserError } from '../errors.ts';
import { backUp } from '../store/sqlite/backup.ts';
import { backupFolder, stamp } from '../store/sqlite/folder.ts';
import { progressBar } from './progress.ts';

/** Where a copy goes: to `file`, or to a folder under a name made of the time. `keep`: how many of such copies remain there. */
interface BackupTarget {
  file?: string | undefined;
  to?: string | undefined;
  keep?: number | undefined;
  /** The folder without `to`: BACKUP_DIR. */
  usual?: string | undefined;
}

/** The names that are made here: neither those of daily backups nor what somebody else chose. */
const NAMED_BY_TIME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.sqlite\.zst$/;

/** Copies the database, by default to its folder of backups; returns what to print. */
export async function backupTo(database: string, { file, to, keep, usual }: BackupTarget): Promise<string> {
  if (file !== undefined && (to ?? keep) !== undefined) throw new UserError('Specify a file or a folder, not both.');
  const place = resolve(to ?? usual ?? backupFolder(database));
  const target = file === undefined ? join(place, `${stamp(systemClock.now())}.sqlite.zst`) : resolve(file);
  const bar = progressBar(process.stderr);
  const { bytes } = await backUp(database, target, bar.draw).finally(bar.end);
  const removed = keep === undefined ? [] : prune(place, keep);
  const older = removed.length === 0 ? '' : ` Deleted ${removed.length} older.`;
  return `Backed up ${database} to ${target} (${bytes} bytes), verified.${older}`;
}

/** Deletes all but the newest copies; returns their names. */
function prune(folder: string, keep: number): string[] {
  const old = readdirSync(folder)
    .filter((name) => NAMED_BY_TIME.test(name))
    .sort()
    .slice(0, -keep);
  for (const name of old) rmSync(join(folder, name), { force: true });
  return old;
}
