import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { UserError } from '../../errors.ts';
import { takeLock } from './database.ts';
import { backupFolder, makeFolderOf, stamp } from './folder.ts';
import { migrations } from './migrations.ts';

/** How long a copy waits for a lock that another process holds for a moment. */
const BUSY_MS = 5_000;
/** All pages in one step: one snapshot, however much is written meanwhile, and no writer waits for it. */
const ALL_PAGES = 0x7fffffff;

/** A verified copy of a database. */
export interface Backup {
  file: string;
  bytes: number;
}

/**
 * Copies a database as it stands now, also while a bot writes to it, and verifies the copy. `target` appears only once
 * it is whole and on disk. Throws a {@link UserError} when there is nothing to copy, `target` exists, or the copy is
 * not sound.
 */
export async function backUp(file: string, target: string): Promise<Backup> {
  if (!existsSync(file)) throw new UserError(`There is no database at ${file}. Set its path in DATABASE_URL.`);
  if (existsSync(target)) throw new UserError(`${target} already exists. Specify another file, or move this one.`);
  makeFolderOf(target, 'Specify a file in another folder.');
  const partial = `${target}.partial`;
  rmSync(partial, { force: true });
  try {
    await copy(file, partial, target);
    verify(partial, file, target);
    fsync(partial);
    renameSync(partial, target);
    fsync(dirname(target));
  } finally {
    rmSync(partial, { force: true });
  }
  return { file: target, bytes: statSync(target).size };
}

/**
 * Puts a backup in the place of a database that no process uses; what stood there is kept beside it. Gives the name of
 * the kept file, or null when there was none. Throws a {@link UserError} when a bot runs or the backup is not sound;
 * the database is untouched then.
 */
export async function restore(named: string, backup: string, now: number): Promise<{ kept: string | null }> {
  if (!existsSync(backup))
    throw new UserError(`There is no backup at ${backup}. Backups are in ${backupFolder(named)}.`);
  makeFolderOf(named);
  // Where the name leads: a database that was put on a larger disk stays there.
  const file = existsSync(named) ? realpathSync(named) : named;
  const lock = lockFor(file);
  try {
    const fresh = `${file}.restored`;
    rmSync(fresh, { force: true });
    await backUp(backup, fresh);
    const kept = `${file}.before-restore-${stamp(now)}`;
    const isKept = keep(file, kept);
    renameSync(fresh, file);
    fsync(dirname(file));
    return { kept: isKept ? kept : null };
  } finally {
    lock.close();
  }
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

/** Gives the database a second name, if there is one; its own stays until the restored file takes it. */
function keep(file: string, kept: string): boolean {
  const isThere = existsSync(file);
  if (isThere) linkSync(file, kept);
  // Of a database that was not closed in peace, the newest commits are in the log beside it. One that was left behind by
  // a file that is gone would be read into the restored one, and destroy it.
  for (const end of ['-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, kept + end);
  return isThere;
}

async function copy(file: string, partial: string, target: string): Promise<void> {
  let isOpen = false;
  try {
    const source = new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
    try {
      // Opens the log beside the file as well, and so fails here if that cannot be read.
      source.pragma('user_version');
      isOpen = true;
      await source.backup(partial, { progress: () => ALL_PAGES });
    } finally {
      source.close();
    }
  } catch (error) {
    if (isOpen) failToWrite(error, file, target);
    throw new UserError(`${file} cannot be copied: ${(error as Error).message}.`);
  }
}

/** Throws a fault of the copy's own disk, such as that it is full, in words that name it; passes over others. */
function failToWrite(error: unknown, file: string, target: string): void {
  const { code, message } = error as Error & { code?: string };
  if (code === undefined || !/^SQLITE_(FULL|CANTOPEN|IOERR)/.test(code)) return;
  throw new UserError(
    `${file} cannot be copied to ${target}: ${message}. Free up space, or specify a file on another disk.`,
  );
}

/** Opens a copy and reads all of it; leaves one file without a log beside it. */
function verify(copied: string, source: string, target: string): void {
  const fault = faultOf(copied, source, target);
  if (fault !== null) throw new UserError(`${source} is not a valid Ledgerbell database: ${fault}.`);
}

function faultOf(copied: string, source: string, target: string): string | null {
  try {
    const db = new Database(copied, { timeout: BUSY_MS });
    try {
      db.pragma('journal_mode = DELETE');
      const check = db.pragma('integrity_check(1)', { simple: true });
      if (check !== 'ok') return String(check);
      const version = Number(db.pragma('user_version', { simple: true }));
      if (version > migrations.length) {
        return `a newer Ledgerbell wrote it (schema ${version}; this one uses schema ${migrations.length})`;
      }
      const made = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'inbox'").get();
      return version === 0 || !made ? 'it contains no Ledgerbell tables' : null;
    } finally {
      db.close();
    }
  } catch (error) {
    failToWrite(error, source, target);
    return (error as Error).message;
  }
}

function fsync(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
