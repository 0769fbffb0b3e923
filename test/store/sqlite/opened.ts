import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { portOver } from '../../../src/store/queries/index.ts';
import { openDatabase, transactions } from '../../../src/store/sqlite/database.ts';
import type { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../folder.ts';

export function openHere(): Database {
  const { db, close } = openDatabase(join(temporaryFolder(), 'test.sqlite'));
  onTestFinished(close);
  return db;
}

/** The port over a connection, in this thread: one call after the other. */
export function storeOver(db: Database): Store {
  const connection = transactions(db);
  return portOver(({ mode, run }, ...args) => connection.run(mode, run, ...args));
}
