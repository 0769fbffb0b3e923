import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../errors.ts';

/** Where backups go and how they are named; without the database's library, which only its threads load. */

/** The folder beside a database where its backups go. */
export const backupFolder = (file: string): string => join(dirname(file), 'backups');

/** A time as it stands in file names: `2026-01-31T12-00-00-000Z`. */
export const stamp = (now: number): string => new Date(now).toISOString().replace(/[:.]/g, '-');

/** Makes the folder of a file; throws a {@link UserError} that ends with what to do. */
export function makeFolderOf(file: string, todo = 'Name a file elsewhere with DATABASE_URL.'): void {
  try {
    makeFolder(dirname(file));
  } catch (error) {
    throw new UserError(`The folder of ${file} cannot be made: ${(error as Error).message}. ${todo}`);
  }
}

/** With those above it; where none can be made (`/proc`), Node's own way to make several never ends. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    mkdirSync(path);
  }
}
