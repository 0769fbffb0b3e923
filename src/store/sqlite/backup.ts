import { createReadStream, createWriteStream, existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import Database from 'better-sqlite3';
import { UserError } from '../../errors.ts';
import { SCHEMA_VERSION } from '../schema.ts';
import { disposable, takeLock, versionOf } from './database.ts';
import { makeFolderOf, realFile, stamp, whereBackups } from './files.ts';

const BUSY_MS = 5_000;
const PAGES_PER_STEP = 2_000;

export type BackupProgress = (done: number, total: number, what: string) => void;

export interface Backup {
  file: string;
  bytes: number;
}

/**
 * Also while a bot writes. `target` appears only once it is verified and on disk; `.zst` at its end compresses it.
 * Throws a {@link UserError} when there is nothing to copy, `target` exists, or the copy is not sound.
 */
export async function backUp(file: string, target: string, report: BackupProgress = () => undefined): Promise<Backup> {
  if (!existsSync(file)) throw new UserError(`There is no database at ${file}. Set its path in DATABASE_URL.`);
  if (existsSync(target)) throw new UserError(`${target} already exists. Specify another file, or move this one.`);
  makeFolderOf(target, 'Specify a file in another folder.');
  const [plain, compressed] = [`${target}.partial`, `${target}.compressed.partial`];
  using _left = cleared(plain, compressed);
  await copy(file, plain, target, report);
  report(1, 1, 'verifying');
  verify(plain, file, target);
  const isCompressing = target.endsWith('.zst');
  if (isCompressing) {
    await compress(plain, compressed, report).catch((error: Error) => {
      throw diskFault(error, file, target) ?? error;
    });
  }
  const made = isCompressing ? compressed : plain;
  await sync(made);
  renameSync(made, target);
  await sync(dirname(target));
  return { file: target, bytes: statSync(target).size };
}

/**
 * Keeps the old file; returns its new name, null when there was none. Throws a {@link UserError} and leaves the
 * database untouched when a bot runs or the backup is damaged.
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
  using _left = cleared(fresh);
  if (await isCompressed(backup)) {
    await decompress(backup, fresh, report).catch((error: Error) => {
      const damaged = new UserError(`${backup} is damaged: ${error.message}. Use another backup.`);
      throw diskFault(error, backup, fresh) ?? damaged;
    });
  } else await copy(backup, fresh, fresh, report);
  report(1, 1, 'verifying');
  verify(fresh, backup, fresh);
  await sync(fresh);
  const kept = `${file}.before-restore-${stamp(now)}`;
  const isKept = keep(file, kept);
  renameSync(fresh, file);
  await sync(dirname(file));
  return { kept: isKept ? kept : null };
}

/** Removes what an interrupted copy left, and again at the end of a block. */
function cleared(...files: string[]): Disposable {
  const remove = () => {
    // SQLite leaves its own files next to a database that it cannot read.
    for (const file of files) for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
  };
  remove();
  return { [Symbol.dispose]: remove };
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

function keep(file: string, kept: string): boolean {
  const isThere = existsSync(file);
  if (isThere) linkSync(file, kept);
  // After a crash the log has the newest commits. SQLite would apply it to the restored file and damage the file.
  for (const end of ['-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, kept + end);
  return isThere;
}

async function copy(file: string, to: string, target: string, report: BackupProgress): Promise<void> {
  try {
    using source = disposable(new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS }));
    // Every step reads the same snapshot, whatever is written meanwhile, and blocks no writer.
    source.exec('BEGIN');
    // Also opens the log next to the file, so an unreadable log fails here.
    source.pragma('user_version');
    const progress = ({ totalPages, remainingPages }: Database.BackupMetadata) => {
      report(totalPages - remainingPages, totalPages, 'copying');
      return PAGES_PER_STEP;
    };
    await source.backup(to, { progress }).catch((error: Error) => {
      throw diskFault(error, file, target) ?? error;
    });
  } catch (error) {
    throw error instanceof UserError ? error : new UserError(`${file} cannot be copied: ${(error as Error).message}.`);
  }
}

function diskFault({ code, message }: Error & { code?: string }, file: string, target: string): UserError | null {
  if (code === undefined || !/^(SQLITE_(FULL|CANTOPEN|IOERR)|ENOSPC|EDQUOT|EIO)/.test(code)) return null;
  return new UserError(
    `${file} cannot be copied to ${target}: ${message}. Free up space, or specify a file on another disk.`,
  );
}

/** Leaves one file without a log. */
function verify(copied: string, source: string, target: string): void {
  try {
    using db = disposable(new Database(copied, { timeout: BUSY_MS }));
    db.pragma('journal_mode = DELETE');
    const check = db.pragma('integrity_check(1)', { simple: true });
    if (check !== 'ok') throw new Error(String(check));
    const version = versionOf(db);
    if (version > SCHEMA_VERSION)
      throw new Error(`a newer Ledgerbell wrote it (schema ${version}; this one uses schema ${SCHEMA_VERSION})`);
    const made = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'inbox'").get();
    if (version === 0 || !made) throw new Error('it contains no Ledgerbell tables');
  } catch (error) {
    const invalid = `${source} is not a valid Ledgerbell database: ${(error as Error).message}.`;
    throw diskFault(error as Error, source, target) ?? new UserError(invalid);
  }
}

async function sync(path: string): Promise<void> {
  await using handle = await open(path);
  await handle.sync();
}

const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

async function isCompressed(file: string): Promise<boolean> {
  await using handle = await open(file);
  const { buffer } = await handle.read(Buffer.alloc(MAGIC.length));
  return buffer.equals(MAGIC);
}

async function* read(file: string, report: BackupProgress, what: string): AsyncGenerator<Buffer> {
  const { size } = statSync(file);
  let done = 0;
  for await (const chunk of createReadStream(file)) {
    done += chunk.length;
    report(done, size, what);
    yield chunk;
  }
}

/** Reads the result back: its checksum shows whether it was written right. */
async function compress(from: string, to: string, report: BackupProgress): Promise<void> {
  const compressing = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  await pipeline(read(from, report, 'compressing'), compressing, createWriteStream(to, { mode: 0o600 }));
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  await pipeline(createReadStream(to), createZstdDecompress(), nowhere);
}

const decompress = (from: string, to: string, report: BackupProgress): Promise<void> =>
  pipeline(read(from, report, 'decompressing'), createZstdDecompress(), createWriteStream(to, { mode: 0o600 }));
