import { chmodSync, existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { makeFolder } from '../../../src/domain/folder.ts';
import { Misconfigured } from '../../config.ts';
import { MIGRATIONS } from './schema.ts';

/** @throws when another process has the file open; {@link Misconfigured} when the folder or the file cannot be used. */
export function openDatabase(dir: string, migrations = MIGRATIONS): Database.Database {
  const file = join(dir, 'notification.sqlite');
  using stack = new DisposableStack();
  const db = stack.adopt(openFile(dir, file), (it) => it.close());
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    // Only an empty file takes this setting. With it, pages of deleted deliveries can be given back to the disk.
    db.pragma('auto_vacuum = INCREMENTAL');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    migrate(db, file, migrations);
    db.pragma('foreign_keys = ON');
    stack.move();
    return db;
  } catch (error) {
    if (error instanceof Misconfigured) throw error;
    const { code = '', message } = error as { code?: string; message: string };
    if (code === 'SQLITE_BUSY') {
      throw new Error(`Another process is using ${file}. Stop it, or choose another folder with DATA_DIR.`);
    }
    if (!/NOTADB|CORRUPT|READONLY|CANTOPEN/.test(code)) throw error;
    const isBroken = /NOTADB|CORRUPT/.test(code);
    const hint = isBroken ? '. Restore a backup, or move the file away and create the webhooks again' : '';
    throw new Misconfigured(`DATA_DIR: ${file} cannot be used: ${message}${hint}`);
  }
}

/** Each step in its own transaction, after a copy of the file. */
function migrate(db: Database.Database, file: string, migrations: readonly string[]): void {
  const version = Number(db.pragma('user_version', { simple: true }));
  if (version > migrations.length) {
    throw new Misconfigured(`DATA_DIR: ${file} was written by a newer version of the services. Start that version`);
  }
  if (version > 0 && version < migrations.length) backUp(db, `${file}.before-${migrations.length}`);
  db.pragma('foreign_keys = OFF');
  for (const [index, step] of migrations.entries()) {
    if (index < version) continue;
    db.transaction(() => {
      db.exec(step);
      db.pragma(`user_version = ${index + 1}`);
    })();
  }
}

function backUp(db: Database.Database, copy: string): void {
  if (existsSync(copy)) return;
  db.prepare('VACUUM INTO ?').run(copy);
  chmodSync(copy, 0o600);
}

function openFile(dir: string, file: string): Database.Database {
  try {
    makeFolder(resolve(dir));
    // Receivers' tokens are in it.
    if (existsSync(file) && (statSync(file).mode & 0o007) !== 0) chmodSync(file, 0o600);
    return new Database(file, { timeout: 500 });
  } catch (error) {
    throw new Misconfigured(`DATA_DIR ${dir} must be a folder that can be written to: ${(error as Error).message}`);
  }
}
