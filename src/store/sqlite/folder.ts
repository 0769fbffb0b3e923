import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../../domain/folder.ts';
import { startError } from '../../errors.ts';

/** Where the database and its backups lie, and who may read them; without the library, which only its threads load. */

/** What every file of SQLite begins with. */
const BEGINNING = 'SQLite format 3\0';
/** The database itself, what SQLite and the lock keep beside it, and copies from before an update or a restore. */
const ENDS = /^(|-wal|-shm|\.lock|\.before-(schema|restore)-.+)$/;
const OTHERS = 0o007;

/** Where a path to a database leads: SQLite keeps what belongs to it beside that. */
export const realFile = (file: string): string => (existsSync(file) ? realpathSync(file) : file);

/** The folder beside a database where its backups go. */
export const backupFolder = (file: string): string => join(dirname(file), 'backups');

/** A time as it stands in file names: `2026-01-31T12-00-00-000Z`. */
export const stamp = (now: number): string => new Date(now).toISOString().replace(/[:.]/g, '-');

/** Makes the folder of a file; throws an Error with a message that ends with what to do. */
export function makeFolderOf(file: string, todo = 'Name a file elsewhere with DATABASE_URL.'): void {
  try {
    makeFolder(dirname(file));
  } catch (error) {
    const fault = error as NodeJS.ErrnoException;
    throw startError(`The folder of ${file} cannot be made: ${fault.message}. ${todo}`, fault);
  }
}

/**
 * Makes the folder of the database before that is opened, and closes to others what an older version left open to them.
 * Throws an Error with a message for the operator when this user cannot have a database there.
 */
export function takePlace(file: string): void {
  makeFolderOf(file);
  const place = realFile(file);
  try {
    accessSync(dirname(place), constants.W_OK | constants.X_OK);
    if (existsSync(place)) assertDatabase(place);
    // Another user's, such as one that was made by a bot that ran as root. The error names the file.
    for (const end of ['-wal', '-shm', '.lock']) {
      if (existsSync(place + end)) accessSync(place + end, constants.R_OK | constants.W_OK);
    }
  } catch (error) {
    const fault = error as NodeJS.ErrnoException;
    throw startError(
      `${file} cannot be used as the database: ${fault.message}. ` +
        'Make it and its folder writable for the user that runs the bot, or set another file in DATABASE_URL.',
      fault,
    );
  }
  for (const one of new Set([file, place])) {
    const own = basename(one);
    closeToOthers(dirname(one), (name) => name.startsWith(own) && ENDS.test(name.slice(own.length)));
  }
  closeToOthers(backupFolder(file), (name) => name.endsWith('.sqlite'));
}

function assertDatabase(file: string): void {
  if (!statSync(file).isFile()) throw new Error('it is not a file');
  accessSync(file, constants.R_OK | constants.W_OK);
  const bytes = Buffer.alloc(BEGINNING.length);
  const descriptor = openSync(file, 'r');
  try {
    const read = readSync(descriptor, bytes);
    if (read > 0 && bytes.toString('latin1') !== BEGINNING)
      throw new Error(
        `it is not a database, or its beginning is damaged; backups are in ${backupFolder(file)} (npm run restore -- <backup>)`,
      );
  } finally {
    closeSync(descriptor);
  }
}

/** Closes files that an older version left open to everybody; what was opened for a group by hand stays so. */
function closeToOthers(folder: string, isOurs: (name: string) => boolean): void {
  for (const name of namesIn(folder).filter(isOurs)) {
    const path = join(folder, name);
    try {
      const found = statSync(path);
      if (found.isFile() && (found.mode & OTHERS) !== 0) chmodSync(path, 0o600);
    } catch {
      // It is somebody else's, who has to decide about it, or gone meanwhile.
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
