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

/** This file does not import better-sqlite3, which only the database's threads load. */

const HEADER = 'SQLite format 3\0';
const SUFFIX = /^(|-wal|-shm|\.lock|\.before-(schema|restore)-.+)$/;
const OTHERS = 0o007;

/** SQLite keeps its other files next to a link's target. */
export const realFile = (file: string): string => (existsSync(file) ? realpathSync(file) : file);

export const backupFolder = (file: string): string => join(dirname(file), 'backups');

export const whereBackups = (file: string): string => `${backupFolder(file)}, or in BACKUP_DIR if that is set`;

export const BACKUP_SUFFIX = /\.sqlite(\.zst)?$/;

/** `2026-01-31T12-00-00-000Z`. */
export const stamp = (now: number): string => new Date(now).toISOString().replace(/[:.]/g, '-');

export function makeFolderOf(file: string, todo = 'Name a file elsewhere with DATABASE_URL.'): void {
  try {
    makeFolder(dirname(file));
  } catch (error) {
    const fault = error as NodeJS.ErrnoException;
    throw startError(`The folder of ${file} cannot be made: ${fault.message}. ${todo}`, fault);
  }
}

export const unusable = (file: string, fault: NodeJS.ErrnoException): Error =>
  startError(
    `${file} cannot be used as the database: ${fault.message}. ` +
      'Make it and its folder writable for the user that runs the bot, or set another file in DATABASE_URL.',
    fault,
  );

/** Removes other users' access to what was copied there. Throws an Error with a message for the operator. */
export function prepareFolder(file: string): void {
  makeFolderOf(file);
  const place = realFile(file);
  try {
    accessSync(dirname(place), constants.W_OK | constants.X_OK);
    if (existsSync(place)) assertDatabase(place);
    // The file may belong to another user, for example after a run as root. The error names it.
    for (const end of ['-wal', '-shm', '.lock']) {
      if (existsSync(place + end)) accessSync(place + end, constants.R_OK | constants.W_OK);
    }
  } catch (error) {
    throw unusable(file, error as NodeJS.ErrnoException);
  }
  const own = basename(place);
  closeToOthers(dirname(place), (name) => name.startsWith(own) && SUFFIX.test(name.slice(own.length)));
  closeToOthers(backupFolder(file), (name) => BACKUP_SUFFIX.test(name));
}

/** The database holds receiver tokens. Access granted to a group by hand stays. */
function closeToOthers(folder: string, isOurs: (name: string) => boolean): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder).filter(isOurs)) {
    const path = join(folder, name);
    try {
      const { mode } = statSync(path);
      if ((mode & OTHERS) !== 0) chmodSync(path, 0o600);
    } catch {
      // The file belongs to another user, who must decide, or is gone meanwhile.
    }
  }
}

function assertDatabase(file: string): void {
  if (!statSync(file).isFile()) throw new Error('it is not a file');
  accessSync(file, constants.R_OK | constants.W_OK);
  const bytes = Buffer.alloc(HEADER.length);
  using stack = new DisposableStack();
  const read = readSync(stack.adopt(openSync(file, 'r'), closeSync), bytes);
  if (read > 0 && bytes.toString('latin1') !== HEADER)
    throw new Error(
      'it is not a database, or its beginning is damaged; ' +
        `backups are in ${whereBackups(file)} (npm run restore -- <backup>)`,
    );
}

export const REPLACED = 'LEDGERBELL_REPLACED';

export const isDamage = (code: string | undefined): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(code ?? '');

export const damageMessage = (file: string, fault: string): string =>
  `${file} is damaged: ${fault}. Check the disk, then restore the newest backup: ` +
  `npm run restore -- <backup>. Backups are in ${whereBackups(file)}.`;
