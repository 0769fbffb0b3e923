import Database from 'better-sqlite3';
import { realFile } from './folder.ts';

/**
 * Takes the lock: an exclusive transaction on a file next to the database, with links resolved. The system releases it
 * however the process ends.
 */
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
