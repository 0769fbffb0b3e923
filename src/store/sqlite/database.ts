import { existsSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { makeFolder } from '../../domain/folder.ts';
import { ConfigError } from '../../errors.ts';
import { setCheckpoints, withShortCheckpoints } from './checkpoints.ts';
import { disposable } from './disposable.ts';
import { unusable } from './folder.ts';
import { damageMessage, findFault, isDamage, isSmall, VITAL_TABLES } from './health.ts';
import { takeLock } from './lock.ts';
import { MIGRATIONS } from './migrations.ts';

/** How long a writer waits for another one before it fails with SQLITE_BUSY. */
const BUSY_MS = 250;
/** How long a tool that runs next to a bot, or a reader, waits. */
const TOOL_BUSY_MS = 10_000;

/** Error codes for a file that is not a database or not writable. */
const UNUSABLE = /^(E[A-Z]+|SQLITE_(CANTOPEN|PERM|READONLY)\w*)$/;

/** Receives the progress of a migration. */
export type MigrationReport = (details: object, message: string) => void;

/** An open database file; a writer's holds the lock that keeps every other process out. */
export interface OpenDatabase {
  db: Database.Database;
  close(): void;
}

/**
 * Opens or creates the database file, takes its lock and migrates the schema. Throws an Error with a message for the
 * operator when another process holds the file, and a {@link ConfigError} when a newer version wrote it.
 */
export function openDatabase(file: string, report: MigrationReport = () => undefined): OpenDatabase {
  try {
    makeFolder(dirname(file));
    return openLocked(file, report);
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string };
    if (code === 'SQLITE_FULL' || code === 'ENOSPC') {
      throw new Error(
        `Ledgerbell cannot start: the disk that holds ${file} is full. Free up space and start it again.`,
      );
    }
    // A restart would find the same file.
    if (isDamage(code)) throw new ConfigError(`Ledgerbell cannot start: ${damageMessage(file, message)}`);
    throw UNUSABLE.test(code) ? unusable(file, error as NodeJS.ErrnoException) : error;
  }
}

function openLocked(file: string, report: MigrationReport): OpenDatabase {
  using stack = new DisposableStack();
  stack.adopt(takeLock(file), (lock) => lock.close());
  const db = stack.use(disposable(new Database(file, { timeout: BUSY_MS })));
  db.pragma('journal_mode = WAL');
  // WAL mode falls back to NORMAL in this build, which would return 200 before the bytes are on disk.
  db.pragma('synchronous = FULL');
  if (db.pragma('synchronous', { simple: true }) !== 2) throw new Error('SQLite refuses synchronous=FULL.');
  assertSound(db, file);
  setCheckpoints(db);
  // A migration that rebuilds a table drops the old one. That must not delete rows that reference it.
  db.pragma('foreign_keys = OFF');
  migrate(db, file, report);
  db.pragma('foreign_keys = ON');
  assertWritable(db);
  const opened = stack.move();
  return { db, close: () => opened.dispose() };
}

/**
 * Throws SQLITE_CORRUPT if the database is damaged in a way that would otherwise lose data silently. A large database
 * is checked only in part, because deliveries would wait for it.
 */
function assertSound(db: Database.Database, file: string): void {
  const there = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  const tables = isSmall(file) ? [undefined] : VITAL_TABLES.filter((table) => there.includes(table));
  for (const table of tables) {
    const fault = findFault(db, table);
    if (fault !== null) throw Object.assign(new Error(fault), { code: 'SQLITE_CORRUPT' });
  }
}

/** SQLite opens a read-only file without an error, and then every delivery would be refused. */
function assertWritable(db: Database.Database): void {
  try {
    db.exec(`BEGIN; PRAGMA user_version = ${MIGRATIONS.length}; ROLLBACK`);
  } catch (error) {
    // Another program's write ends soon.
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
  }
}

/**
 * Runs a transaction whose commit does not wait for the disk. The next synced commit makes it durable, because the log
 * is written in order. Only for work that would be repeated with the same result after a power failure.
 */
export function unsynced<T>(db: Database.Database, run: () => T): T {
  // The enclosing transaction syncs anyway.
  if (db.inTransaction) return run();
  db.exec('PRAGMA synchronous = NORMAL');
  try {
    return run();
  } finally {
    db.exec('PRAGMA synchronous = FULL');
  }
}

/** Runs one step of deleting old data, which is repeated after a power failure. */
export const runDeletionStep = <T>(db: Database.Database, step: () => T): T =>
  withShortCheckpoints(db, () => unsynced(db, step));

/**
 * Opens the database file read-only, beside this process's writer, which created it and holds the lock. Never waits for
 * the writer.
 */
export function openReader(file: string): OpenDatabase {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: TOOL_BUSY_MS });
  return { db, close: () => void db.close() };
}

/**
 * Opens the file of a bot that may be running, as a second writer; throws an Error with a message for the operator when
 * the file is missing or has another schema version.
 */
export function connectExisting(file: string): Database.Database & Disposable {
  if (!existsSync(file)) throw new Error(`There is no database at ${file}. Set its path in DATABASE_URL.`);
  using stack = new DisposableStack();
  const db = stack.use(disposable(new Database(file, { fileMustExist: true, timeout: TOOL_BUSY_MS })));
  const version = Number(db.pragma('user_version', { simple: true }));
  if (version !== MIGRATIONS.length) {
    const todo = version < MIGRATIONS.length ? 'Start the Ledgerbell of this version once.' : 'Use the newer version.';
    throw new Error(`${file} has schema ${version}; this version uses schema ${MIGRATIONS.length}. ${todo}`);
  }
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  setCheckpoints(db);
  stack.move();
  return db;
}

function schemaOf(file: string): number {
  using db = disposable(new Database(file, { readonly: true }));
  return Number(db.pragma('user_version', { simple: true }));
}

/** Throws an Error with a message for the operator when the disk has no room for a copy of the database. */
function assertRoom(file: string, backup: string): void {
  const needed = statSync(file).size;
  const { bavail, bsize } = statfsSync(dirname(backup));
  const free = bavail * bsize;
  const mebibytes = (bytes: number) => Math.ceil(bytes / 2 ** 20);
  if (free >= needed) return;
  throw new Error(
    `Ledgerbell cannot start: the update needs ${mebibytes(needed)} MiB for a copy of the database (${backup}), and ` +
      `${mebibytes(free)} MiB are free. Free up space and start it again.`,
  );
}

function migrate(db: Database.Database, file: string, report: MigrationReport): void {
  const version = Number(db.pragma('user_version', { simple: true }));
  if (version > MIGRATIONS.length) {
    throw new ConfigError(
      `${file} was written by a newer Ledgerbell (schema ${version}; this one uses schema ${MIGRATIONS.length}). ` +
        'Start the newer version, or restore a backup made before the update.',
    );
  }
  if (version > 0 && version < MIGRATIONS.length) {
    const backup = `${file}.before-schema-${MIGRATIONS.length}`;
    // An update that was interrupted between two steps already has its copy. A copy whose schema is not older than the
    // file's comes from an update that was rolled back, and lacks everything written since.
    if (!existsSync(backup) || schemaOf(backup) >= version) {
      // An interrupted process must not leave a partial copy under the final name.
      rmSync(`${backup}.partial`, { force: true });
      assertRoom(file, backup);
      report({ copy: backup, bytes: statSync(file).size }, 'migration: copying the database first');
      db.prepare('VACUUM INTO ?').run(`${backup}.partial`);
      renameSync(`${backup}.partial`, backup);
    }
  }
  for (let next = version; next < MIGRATIONS.length; next++) {
    if (version > 0) report({ step: next + 1 - version, of: MIGRATIONS.length - version }, 'migration: step begun');
    db.transaction(() => {
      db.exec(MIGRATIONS[next]!);
      db.pragma(`user_version = ${next + 1}`);
    }).immediate();
  }
  if (version > 0 && version < MIGRATIONS.length) report({ schema: MIGRATIONS.length }, 'migration: done');
}
