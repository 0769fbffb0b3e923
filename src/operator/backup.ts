import { readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '../domain/clock.ts';
import { UserError } from '../errors.ts';
import { backUp, restore } from '../store/sqlite/backup.ts';
import { backupFolder, stamp } from '../store/sqlite/files.ts';
import { onFile, progressBar } from './terminal.ts';

interface BackupTarget {
  file?: string | undefined;
  to?: string | undefined;
  keep?: number | undefined;
  /** The folder without `to`: BACKUP_DIR. */
  usual?: string | undefined;
}

/** The names that are made here: neither those of daily backups nor what somebody else chose. */
const NAMED_BY_TIME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.sqlite\.zst$/;

export async function backupTo(database: string, { file, to, keep, usual }: BackupTarget): Promise<string> {
  if (file !== undefined && (to ?? keep) !== undefined) throw new UserError('Specify a file or a folder, not both.');
  const place = resolve(to ?? usual ?? backupFolder(database));
  const target = file === undefined ? join(place, `${stamp(systemClock.now())}.sqlite.zst`) : resolve(file);
  const bar = progressBar(process.stderr);
  const { bytes } = await onFile(database, backUp(database, target, bar.draw)).finally(bar.end);
  const old = keep === undefined ? [] : readdirSync(place).filter((name) => NAMED_BY_TIME.test(name));
  const removed = old.sort().slice(0, -(keep ?? 0));
  for (const name of removed) rmSync(join(place, name), { force: true });
  const older = removed.length === 0 ? '' : ` Deleted ${removed.length} older.`;
  return `Backed up ${database} to ${target} (${bytes} bytes), verified.${older}`;
}

export async function restoreFrom(database: string, backup: string): Promise<string> {
  const bar = progressBar(process.stderr);
  const restoring = restore(database, resolve(backup), systemClock.now(), bar.draw);
  const { kept } = await onFile(database, restoring).finally(bar.end);
  const restored = `Restored ${resolve(backup)} to ${database}.`;
  if (kept === null) return restored;
  return `${restored}\nThe previous database was kept as ${kept}. Delete it when you no longer need it.`;
}
