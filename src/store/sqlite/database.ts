import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { makeFolder } from '../../domain/folder.ts';
import { MIB } from '../../domain/units.ts';
import { ConfigError } from '../../errors.ts';
import { MIGRATIONS, type Migration, type MigrationReport, stepsFrom } from '../schema.ts';
import { type Mode, type Sql, sqlOver } from '../sql.ts';
import { damageMessage, isDamage, realFile, unusable } from './files.ts';

const BUSY_MS = 250;
const READER_BUSY_MS = 10_000;

const UNUSABLE = /^(E[A-Z]+|SQLITE_(CANTOPEN|PERM|READONLY)\w*)$/;

/** Changed pages after which a commit writes the log (`-wal`) back to the file. */
const CHECKPOINT_PAGES = 1_000;
const MAX_LOG_BYTES = 8 * MIB;
/** Litestream creates this table in a database that it copies, and then has to run the checkpoints itself. */
const LITESTREAM_TABLE = '_litestream_seq';
const LITESTREAM_PAGES = 20_000;

export interface OpenDatabase {
  db: Database.Database;
  close(): void;
}

export const disposable = (db: Database.Database): Database.Database & Disposable =>
  Object.assign(db, { [Symbol.dispose]: () => void db.close() });

/**
 * Takes the lock and migrates the schema. Throws an Error with a message for the operator when another process holds
 * the file, and a {@link ConfigError} when a restart cannot help.
 */
export function openDatabase(
  file: string,
  report: MigrationReport = () => undefined,
  migrations: readonly Migration[] = MIGRATIONS,
): OpenDatabase {
  try {
    makeFolder(dirname(file));
    using stack = new DisposableStack();
    stack.adopt(takeLock(file), (lock) => lock.close());
    const db = stack.use(disposable(new Database(file, { timeout: BUSY_MS })));
    prepare(db, file, report, migrations);
    const opened = stack.move();
    return { db, close: () => opened.dispose() };
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string };
    if (code === 'SQLITE_FULL' || code === 'ENOSPC') {
      throw new Error(
        `Ledgerbell cannot start: the disk that holds ${file} is full. Free up space and start it again.`,
      );
    }
    if (isDamage(code)) throw new ConfigError(`Ledgerbell cannot start: ${damageMessage(file, message)}`);
    throw UNUSABLE.test(code) ? unusable(file, error as NodeJS.ErrnoException) : error;
  }
}

function prepare(db: Database.Database, file: string, report: MigrationReport, migrations: readonly Migration[]): void {
  db.pragma('journal_mode = WAL');
  // WAL mode falls back to NORMAL in this build, which would return 200 before the bytes are on disk.
  db.pragma('synchronous = FULL');
  if (db.pragma('synchronous', { simple: true }) !== 2) throw new Error('SQLite refuses synchronous=FULL.');
  assertSound(db, file);
  setCheckpoints(db);
  // A migration that rebuilds a table drops the old one. That must not delete rows that reference it.
  db.pragma('foreign_keys = OFF');
  migrate(db, file, report, migrations);
  db.pragma('foreign_keys = ON');
}

/** Takes about a second on a slow machine. In a larger database only the tables that a delivery needs are checked. */
const MAX_CHECKED_BYTES = 64 * MIB;
const VITAL_TABLES = ['meta', 'receiver_tokens', 'channels', 'subscriptions', 'inbox'];

function assertSound(db: Database.Database, file: string): void {
  const there = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  const isSmall = statSync(file).size <= MAX_CHECKED_BYTES;
  for (const checked of isSmall ? ['1'] : VITAL_TABLES.filter((table) => there.includes(table))) {
    // SQLite returns most faults as a row instead of throwing.
    const found = String(db.pragma(`quick_check(${checked})`, { simple: true }));
    if (found !== 'ok') throw Object.assign(new Error(found.replaceAll(/\s+/g, ' ')), { code: 'SQLITE_CORRUPT' });
  }
}

/** A commit that the bot's own checkpoint overwrites would be missing in Litestream's copy. */
export function setCheckpoints(db: Database.Database): void {
  const isCopied = db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(LITESTREAM_TABLE) !== undefined;
  db.pragma(`wal_autocheckpoint = ${isCopied ? LITESTREAM_PAGES : CHECKPOINT_PAGES}`);
  db.pragma(`journal_size_limit = ${isCopied ? -1 : MAX_LOG_BYTES}`);
}

/** 0: it has no tables. */
export const versionOf = (db: Database.Database): number => Number(db.pragma('user_version', { simple: true }));

function migrate(db: Database.Database, file: string, report: MigrationReport, migrations: readonly Migration[]): void {
  const version = versionOf(db);
  const steps = stepsFrom(version, file, migrations);
  if (version > 0 && steps.length > 0) copyFirst(db, file, { version, next: migrations.length }, report);
  for (const [index, step] of steps.entries()) {
    if (version > 0) report({ step: index + 1, of: steps.length }, 'migration: step begun');
    db.transaction(() => {
      db.exec(step('sqlite'));
      db.pragma(`user_version = ${version + index + 1}`);
    }).immediate();
  }
  if (version > 0 && steps.length > 0) report({ schema: migrations.length }, 'migration: done');
}

/** For a return to the version before. */
function copyFirst(
  db: Database.Database,
  file: string,
  { version, next }: { version: number; next: number },
  report: MigrationReport,
): void {
  const copy = `${file}.before-schema-${next}`;
  // An update that was interrupted between two steps already has its copy. A copy whose schema is not older than the
  // file's comes from an update that was rolled back, and lacks everything written since.
  if (existsSync(copy)) {
    using before = disposable(new Database(copy, { readonly: true }));
    if (versionOf(before) < version) return;
  }
  rmSync(`${copy}.partial`, { force: true });
  report({ copy, bytes: statSync(file).size }, 'migration: copying the database first');
  db.prepare('VACUUM INTO ?').run(`${copy}.partial`);
  renameSync(`${copy}.partial`, copy);
}

/** Never waits for the writer, which created the file. */
export function openReader(file: string): OpenDatabase {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: READER_BUSY_MS });
  return { db, close: () => void db.close() };
}

/** An exclusive transaction on a file next to the database. The system releases it however the process ends. */
export function takeLock(file: string): Database.Database {
  const lock = new Database(`${realFile(file)}.lock`, { timeout: 0 });
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

type Bound = string | number | null | Uint8Array;

/** Statements run at once; only their results are promises. */
function statementsOn(db: Database.Database): Sql {
  const known = new Map<string, ReturnType<typeof prepare>>();

  function prepare(text: string) {
    const statement = db.prepare<Bound[], unknown[]>(text);
    const columns = statement.reader ? statement.raw().columns() : [];
    const prepared = { statement, columns: columns.map(({ name }) => name) };
    known.set(text, prepared);
    return prepared;
  }

  return sqlOver('sqlite', async (text, values) => {
    const { statement, columns } = known.get(text) ?? prepare(text);
    const bound = values as Bound[];
    if (!statement.reader) return { columns, rows: [], count: statement.run(...bound).changes };
    const rows = statement.all(...bound);
    return { columns, rows, count: rows.length };
  });
}

const READS: ReadonlySet<Mode> = new Set(['report', 'read']);

/** One transaction at a time: the next may begin once the promise of the one before has settled. */
export function transactions(db: Database.Database) {
  const sql = statementsOn(db);
  const connection = {
    /** How long the disk took for the latest commit. */
    syncMs: 0,
    async run<T, Given extends unknown[]>(
      mode: Mode,
      work: (sql: Sql, ...given: Given) => Promise<T>,
      ...given: Given
    ): Promise<T> {
      // The next synced commit makes it durable, because the log is written in order.
      if (mode === 'unsynced') db.exec('PRAGMA synchronous = NORMAL');
      try {
        db.exec(READS.has(mode) ? 'BEGIN' : 'BEGIN IMMEDIATE');
        const result = await work(sql, ...given);
        const begun = performance.now();
        db.exec('COMMIT');
        if (mode === 'write' || mode === 'receive') connection.syncMs = performance.now() - begun;
        return result;
      } catch (error) {
        // A full or failing disk has rolled it back already.
        if (db.inTransaction) db.exec('ROLLBACK');
        throw error;
      } finally {
        if (mode === 'unsynced') db.exec('PRAGMA synchronous = FULL');
      }
    },
  };
  return connection;
}
