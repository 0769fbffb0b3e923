import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { Misconfigured } from '../config.ts';

const tables = `
  CREATE TABLE IF NOT EXISTS cursor (one INTEGER PRIMARY KEY CHECK (one = 1), genesis TEXT NOT NULL, next INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS blocks (hash TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS blocksByNumber ON blocks (number);
  CREATE TABLE IF NOT EXISTS missed (first INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS webhooks (
    id TEXT PRIMARY KEY, projectId TEXT NOT NULL, url TEXT NOT NULL, eventType TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS addresses (
    id TEXT PRIMARY KEY,
    webhookId TEXT NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    address TEXT NOT NULL,
    UNIQUE (address, webhookId)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS addressesOfWebhook ON addresses (webhookId);
  CREATE TABLE IF NOT EXISTS deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhookId TEXT NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    projectId TEXT NOT NULL,
    txHash TEXT NOT NULL,
    blockNumber INTEGER NOT NULL,
    body TEXT NOT NULL,
    dueAt INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    repeats INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX IF NOT EXISTS deliveriesOfWebhook ON deliveries (webhookId, dueAt);
  DROP INDEX IF EXISTS deliveriesNewestFirst;
`;

/**
 * Opens the notification service's file in a folder, which it makes where there is none.
 *
 * @throws when another process has the file open; {@link Misconfigured} when the folder or the file is of no use.
 */
export function openDatabase(dir: string): Database.Database {
  const file = join(dir, 'notification.sqlite');
  const db = openFile(dir, file);
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    db.exec(tables);
    return db;
  } catch (error) {
    db.close();
    const { code = '', message } = error as { code?: string; message: string };
    if (code === 'SQLITE_BUSY') {
      throw new Error(`Another process is using ${file}. Stop it, or choose another folder with DATA_DIR.`);
    }
    if (!/NOTADB|CORRUPT|READONLY|CANTOPEN/.test(code)) throw error;
    const isBroken = /NOTADB|CORRUPT/.test(code);
    const hint = isBroken ? '. Put a backup in its place, or move it away and make the webhooks anew' : '';
    throw new Misconfigured(`DATA_DIR: ${file} cannot be used: ${message}${hint}`);
  }
}

function openFile(dir: string, file: string): Database.Database {
  try {
    makeFolder(resolve(dir));
    // Receivers' tokens are in it, and an older version left it open to everybody.
    if (existsSync(file) && (statSync(file).mode & 0o007) !== 0) chmodSync(file, 0o600);
    return new Database(file, { timeout: 500 });
  } catch (error) {
    throw new Misconfigured(`DATA_DIR ${dir} must be a folder that can be written to: ${(error as Error).message}`);
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
