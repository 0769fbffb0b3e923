import type { Database } from 'better-sqlite3';
import { MIB } from '../../domain/bytes.ts';

/** When the log (`-wal`) is written back to the database file, and how large the log may stay. */

/** SQLite's default: changed pages after which a commit runs a checkpoint. */
const USUAL_PAGES = 1_000;
/**
 * Changed pages after which a commit runs a checkpoint while old data is deleted: that changes pages all over the file, and
 * a short checkpoint blocks nobody.
 */
const DELETING_PAGES = 200;
/** The log usually needs half of this. A log that grew because of a long read is truncated to it afterwards. */
const MAX_LOG_BYTES = 8 * MIB;

/** Litestream creates this table in a database that it copies. */
const LITESTREAM_TABLE = '_litestream_seq';
/** Litestream runs a checkpoint after 10,000 pages at the latest. Beyond this many, it does not run. */
const LITESTREAM_PAGES = 20_000;

/**
 * Sets when checkpoints run. If Litestream copies this database, it runs them: a commit that the bot's own checkpoint
 * overwrites, or that a truncated log ends before, would be missing in Litestream's copy, which cannot be restored then.
 */
export function setCheckpoints(db: Database): void {
  const isCopied = db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(LITESTREAM_TABLE) !== undefined;
  db.pragma(`wal_autocheckpoint = ${isCopied ? LITESTREAM_PAGES : USUAL_PAGES}`);
  db.pragma(`journal_size_limit = ${isCopied ? -1 : MAX_LOG_BYTES}`);
}

/** Runs a step of deleting old data with short checkpoints, unless Litestream runs them. */
export function withShortCheckpoints<T>(db: Database, step: () => T): T {
  const usual = Number(db.pragma('wal_autocheckpoint', { simple: true }));
  db.exec(`PRAGMA wal_autocheckpoint = ${usual > USUAL_PAGES ? usual : DELETING_PAGES}`);
  try {
    return step();
  } finally {
    db.exec(`PRAGMA wal_autocheckpoint = ${usual}`);
  }
}
