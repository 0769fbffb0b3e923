import { existsSync, mkdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { ConfigError } from '../../errors.ts';
import { backupFolder } from './folder.ts';
import { migrations } from './migrations.ts';

/** How long a writer waits for another one before it gives up with SQLITE_BUSY. */
const BUSY_MS = 250;
/** The same for a tool beside a running bot. */
const BESIDE_BUSY_MS = 10_000;
/** After so many changed pages the log is written back while what is old is forgotten. */
const FORGETTING_PAGES = 200;
/** The log (WAL) usually needs half of this. One that had to grow, beside a long reader, is cut to it once it is free. */
const LOG_BYTES = 8 * 1024 * 1024;

/** How the system and SQLite call a file that is none of ours, or may not be written. */
const UNUSABLE = /^(E[A-Z]+|SQLITE_(CANTOPEN|NOTADB|PERM|READONLY)\w*)$/;

/** An open database file; a writer's holds the lock that keeps every other process out. */
export interface OpenDatabase {
  db: Database.Database;
  close(): void;
}

/**
 * Opens (or makes) the database file, takes its lock and brings the schema up to date; throws an Error with a message
 * for the operator when another process holds the file, and a {@link ConfigError} when a newer version wrote it.
 */
export function openDatabase(file: string): OpenDatabase {
  try {
    mkdirSync(dirname(file), { recursive: true });
    return openLocked(file, takeLock(file));
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string };
    if (code === 'SQLITE_FULL' || code === 'ENOSPC') {
      throw new Error(
        `Ledgerbell cannot start: the disk that holds ${file} is full. Free up space and start it again.`,
      );
    }
    if (code.startsWith('SQLITE_CORRUPT')) {
      throw new Error(
        `Ledgerbell cannot start: ${file} is damaged: ${message}. ` +
          `Restore the newest backup from ${backupFolder(file)}: npm run restore -- <backup>`,
      );
    }
    if (!UNUSABLE.test(code)) throw error;
    throw new Error(
      `${file} cannot be used as the database: ${message}. ` +
        'Make it and its folder writable for the user that runs the bot, or set another file in DATABASE_URL.',
    );
  }
}

function openLocked(file: string, lock: Database.Database): OpenDatabase {
  try {
    const db = new Database(file, { timeout: BUSY_MS });
    db.pragma('journal_mode = WAL');
    // WAL mode falls back to NORMAL in this build, which would answer 200 before the bytes are on disk.
    db.pragma('synchronous = FULL');
    if (db.pragma('synchronous', { simple: true }) !== 2) throw new Error('SQLite refuses synchronous=FULL.');
    db.pragma(`journal_size_limit = ${LOG_BYTES}`);
    // A migration that lays a table anew drops the old one, which must not take along what points there.
    db.pragma('foreign_keys = OFF');
    migrate(db, file);
    db.pragma('foreign_keys = ON');
    assertWritable(db);
    return {
      db,
      close() {
        db.close();
        lock.close();
      },
    };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** SQLite opens a file that may only be read as if all were well; then every delivery would be refused. */
function assertWritable(db: Database.Database): void {
  try {
    db.exec(`BEGIN; PRAGMA user_version = ${migrations.length}; ROLLBACK`);
  } catch (error) {
    // Another program's write is over soon.
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
  }
}

/**
 * Runs a transaction whose commit does not wait for the disk: the next one that waits carries it along,
 * because the log is written in order. Only for what would be done again, and done equally, if the power failed before.
 */
export function unsynced<T>(db: Database.Database, run: () => T): T {
  db.exec('PRAGMA synchronous = NORMAL');
  try {
    return run();
  } finally {
    db.exec('PRAGMA synchronous = FULL');
  }
}

/**
 * Runs a step of forgetting, which would be done again if the power failed before it is on disk. It changes pages all
 * over the file: a log that is written back often keeps the writer for a short time.
 */
export function forgetting<T>(db: Database.Database, step: () => T): T {
  const usual = Number(db.pragma('wal_autocheckpoint', { simple: true }));
  db.exec(`PRAGMA wal_autocheckpoint = ${FORGETTING_PAGES}`);
  try {
    return unsynced(db, step);
  } finally {
    db.exec(`PRAGMA wal_autocheckpoint = ${usual}`);
  }
}

/** Opens the database file beside this process's own writer, which made it and keeps the lock; never waits for it. */
export function openReader(file: string): OpenDatabase {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: BESIDE_BUSY_MS });
  return { db, close: () => void db.close() };
}

/**
 * Opens the file of a bot that may be running, as a second writer; throws an Error with a message for the operator when
 * there is none or its schema is another one.
 */
export function openBeside(file: string): Database.Database {
  if (!existsSync(file)) throw new Error(`There is no database at ${file}. Set its path in DATABASE_URL.`);
  const db = new Database(file, { fileMustExist: true, timeout: BESIDE_BUSY_MS });
  const version = Number(db.pragma('user_version', { simple: true }));
  if (version !== migrations.length) {
    db.close();
    const todo = version < migrations.length ? 'Start the Ledgerbell of this version once.' : 'Use the newer version.';
    throw new Error(`${file} has schema ${version}; this version uses schema ${migrations.length}. ${todo}`);
  }
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  return db;
}

/**
 * An exclusive transaction on a file beside the database, by whichever name that is called: the system releases it
 * however the process ends.
 */
export function takeLock(file: string): Database.Database {
  const lock = new Database(`${existsSync(file) ? realpathSync(file) : file}.lock`, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
    throw new Error(
      `Another process is using ${file}. Only one Ledgerbell can use a database file: stop the other one, or set a ` +
        'different file in DATABASE_URL.',
    );
  }
}

function schemaOf(file: string): number {
  const db = new Database(file, { readonly: true });
  try {
    return Number(db.pragma('user_version', { simple: true }));
  } finally {
    db.close();
  }
}

function migrate(db: Database.Database, file: string): void {
  const version = Number(db.pragma('user_version', { simple: true }));
  if (version > migrations.length) {
    throw new ConfigError(
      `${file} was written by a newer Ledgerbell (schema ${version}; this one uses schema ${migrations.length}). ` +
        'Start the newer version, or restore a backup made before the update.',
    );
  }
  if (version > 0 && version < migrations.length) {
    const backup = `${file}.before-schema-${migrations.length}`;
    // An update that broke off between two steps has its copy. One that is as old as the file, or newer, is of an update
    // that was taken back since: what was written after that is not in it.
    if (!existsSync(backup) || schemaOf(backup) >= version) {
      // A process that ends on the way must not leave half a copy under the name of a whole one.
      rmSync(`${backup}.partial`, { force: true });
      db.prepare('VACUUM INTO ?').run(`${backup}.partial`);
      renameSync(`${backup}.partial`, backup);
    }
  }
  for (let next = version; next < migrations.length; next++) {
    db.transaction(() => {
      db.exec(migrations[next]!);
      db.pragma(`user_version = ${next + 1}`);
    }).immediate();
  }
}
