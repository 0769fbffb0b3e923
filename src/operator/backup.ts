import { resolve } from 'node:path';
import { backUp } from '../store/sqlite/backup.ts';
import { backupFolder, stamp } from '../store/sqlite/folder.ts';

/** Copies the database to a file, by default into its folder of backups; returns what to print. */
export async function backupTo(database: string, file: string | undefined): Promise<string> {
  const target = resolve(file ?? `${backupFolder(database)}/${stamp(Date.now())}.sqlite`);
  const { bytes } = await backUp(database, target);
  return `Backed up ${database} to ${target} (${bytes} bytes), verified.`;
}
