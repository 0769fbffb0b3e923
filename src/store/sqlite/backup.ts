import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { UserError } from '../../errors.ts';
import { compress, decompress, isCompressed } from './compress.ts';
import { disposable } from './disposable.ts';
import { makeFolderOf, realFile, stamp, whereBackups } from './folder.ts';
import { takeLock } from './lock.ts';
import { MIGRATIONS } from './migrations.ts';

/** How long a copy waits for a lock that another process holds briefly. */
const BUSY_MS = 5_000;
/** Pages that are copied between two reports of progress. */
const PAGES_PER_STEP = 2_000;

/** Receives how much is done of what. */
export type BackupProgress = (done: number, total: number, what: string) => void;

/** A verified copy of a database. */
export interface Backup {
  file: string;
  bytes: number;
}

/**
 * Copies a database, also while a bot writes to it, and verifies the copy; a `target` that ends in `.zst` is compressed.
 * `target` appears only once it is whole and on disk. Throws a {@link UserError} when there is nothing to copy, `target`
 * exists, or the copy is not sound.
 */
export async function backUp(file: string, target: string, report: BackupProgress = () => undefined): Promise<Backup> {
  if (!existsSync(file)) throw new UserError(`There is no database at ${file}. Set its path in DATABASE_URL.`);
  if (existsSync(target)) throw new UserError(`${target} already exists. Specify another file, or move this one.`);
  makeFolderOf(target, 'Specify a file in another folder.');
  const partial = `${target}.partial`;
  const compressed = `${target}.compressed.partial`;
  const remove = () => {
    for (const path of [partial, compressed]) rmSync(path, { force: true });
  };
  remove();
  using leftovers = new DisposableStack();
  leftovers.defer(remove);
  await copy(file, partial, target, (done, total) => report(done, total, 'copying'));
  report(1, 1, 'verifying');
  verify(partial, file, target);
  const isPlain = !target.endsWith('.zst');
  if (!isPlain) {
    await compress(partial, compressed, (done, total) => report(done, total, 'compressing')).catch((error: Error) => {
      failToWrite(error, file, target);
      throw error;
    });
  }
  const done = isPlain ? partial : compressed;
  await sync(done);
  renameSync(done, target);
  await sync(dirname(target));
  return { file: target, bytes: statSync(target).size };
}

/**
 * Replaces a database that no process uses with a backup and keeps the old file. Returns the kept file's name, or null
 * when there was no old file. Throws a {@link UserError} when a bot runs or the backup is damaged; the database is
 * untouched then.
 */
export async function restore(
  database: string,
  backup: string,
  now: number,
  report: BackupProgress = () => undefined,
): Promise<{ kept: string | null }> {
  if (!existsSync(backup))
    throw new UserError(`There is no backup at ${backup}. Backups are in ${whereBackups(database)}.`);
  makeFolderOf(database);
  // Follows a link, so a database on another disk stays there.
  const file = realFile(database);
  using _lock = disposable(lockFor(file));
  const fresh = `${file}.restored`;
  rmSync(fresh, { force: true });
  await unpackTo(backup, fresh, report);
  const kept = `${file}.before-restore-${stamp(now)}`;
  const isKept = keep(file, kept);
  renameSync(fresh, file);
  await sync(dirname(file));
  return { kept: isKept ? kept : null };
}

/** Copies a backup, compressed or not, to a new file and verifies that. */
async function unpackTo(backup: string, fresh: string, report: BackupProgress): Promise<void> {
  if (!(await isCompressed(backup))) return void (await backUp(backup, fresh, report));
  const unpacked = `${fresh}.unpacked`;
  using leftovers = new DisposableStack();
  // SQLite leaves its own files next to a database that it cannot read.
  for (const end of ['', '-wal', '-shm']) leftovers.defer(() => rmSync(unpacked + end, { force: true }));
  await decompress(backup, unpacked, (done, total) => report(done, total, 'decompressing')).catch(
    (error: NodeJS.ErrnoException) => {
      failToWrite(error, backup, fresh);
      throw new UserError(`${backup} is damaged: ${error.message}. Use another backup.`);
    },
  );
  await backUp(unpacked, fresh, report).catch((error: Error) => {
    throw error instanceof UserError ? new UserError(error.message.replaceAll(unpacked, backup)) : error;
  });
}

function lockFor(file: string): Database.Database {
  try {
    return takeLock(file);
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code !== undefined) {
      throw new UserError(
        `${file} cannot be restored: ${message}. Run this as the user that runs the bot. Nothing was changed.`,
      );
    }
    throw new UserError(`Ledgerbell is running on ${file}. Stop it first, then restore. Nothing was changed.`);
  }
}

/** Gives an existing database a second name; the first stays until the restored file takes it. */
function keep(file: string, kept: string): boolean {
  const isThere = existsSync(file);
  if (isThere) linkSync(file, kept);
  // If the database was not closed cleanly, its newest commits are in the log next to it. SQLite would apply a leftover
  // log to the restored file and destroy it.
  for (const end of ['-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, kept + end);
  return isThere;
}

async function copy(
  file: string,
  partial: string,
  target: string,
  report: (done: number, total: number) => void,
): Promise<void> {
  let isOpen = false;
  try {
    using source = disposable(new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS }));
    // Every step reads the same snapshot, whatever is written meanwhile, and blocks no writer.
    source.exec('BEGIN');
    // Also opens the log next to the file, so an unreadable log fails here.
    source.pragma('user_version');
    isOpen = true;
    await source.backup(partial, {
      progress({ totalPages, remainingPages }) {
        report(totalPages - remainingPages, totalPages);
        return PAGES_PER_STEP;
      },
    });
  } catch (error) {
    if (isOpen) failToWrite(error, file, target);
    throw new UserError(`${file} cannot be copied: ${(error as Error).message}.`);
  }
}

/** Throws a readable error for a fault of the copy's disk, such as a full one; ignores other errors. */
function failToWrite(error: unknown, file: string, target: string): void {
  const { code, message } = error as Error & { code?: string };
  if (code === undefined || !/^(SQLITE_(FULL|CANTOPEN|IOERR)|ENOSPC|EDQUOT|EIO)/.test(code)) return;
  throw new UserError(
    `${file} cannot be copied to ${target}: ${message}. Free up space, or specify a file on another disk.`,
  );
}

/** Verifies a whole copy and leaves one file without a log. */
function verify(copied: string, source: string, target: string): void {
  const fault = faultOf(copied, source, target);
  if (fault !== null) throw new UserError(`${source} is not a valid Ledgerbell database: ${fault}.`);
}

function faultOf(copied: string, source: string, target: string): string | null {
  try {
    using db = disposable(new Database(copied, { timeout: BUSY_MS }));
    db.pragma('journal_mode = DELETE');
    const check = db.pragma('integrity_check(1)', { simple: true });
    if (check !== 'ok') return String(check);
    const version = Number(db.pragma('user_version', { simple: true }));
    if (version > MIGRATIONS.length) {
      return `a newer Ledgerbell wrote it (schema ${version}; this one uses schema ${MIGRATIONS.length})`;
    }
    const made = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'inbox'").get();
    return version === 0 || !made ? 'it contains no Ledgerbell tables' : null;
  } catch (error) {
    failToWrite(error, source, target);
    return (error as Error).message;
  }
}

/** Waits until a file, or the names in a folder, are on the disk. */
async function sync(path: string): Promise<void> {
  await using handle = await open(path);
  await handle.sync();
}
