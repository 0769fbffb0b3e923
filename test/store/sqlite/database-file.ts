import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { BY_SCOPE } from '../../../src/store/queries/retention.ts';
import { MIGRATIONS } from '../../../src/store/schema.ts';
import { disposable, openDatabase } from '../../../src/store/sqlite/database.ts';
import { openSqlite } from '../../../src/store/sqlite/open.ts';
import { connectExisting, openExisting } from '../../../src/store/sqlite/tools.ts';
import type { Store } from '../../../src/store/store.ts';

/** Reads and changes of the database's file by other tests, also while a bot has it open. */

export const openStore = (file: string) => openSqlite(file);

/** Opens a database through the port in this thread while a bot may be running; creates it if there is none. */
export function openExistingStore(file: string): { store: Store; close(): void } {
  if (!existsSync(file)) openDatabase(file).close();
  return openExisting(file);
}

export async function withStore<T>(file: string, act: (store: Store) => Promise<T>): Promise<T> {
  const { store, close } = openExistingStore(file);
  try {
    return await act(store);
  } finally {
    close();
  }
}

/** Every body on disk, routed or not, in a file that nobody else needs to have understood. */
export const bodiesIn = (file: string): string[] =>
  readRows<{ body: Buffer }>(file, 'SELECT body FROM inbox UNION ALL SELECT body FROM quarantine').map(({ body }) =>
    body.toString(),
  );

export function rowsOf(file: string, scope: number): Record<string, number> {
  const tables = [...BY_SCOPE, 'transfers'].map((table) => {
    const [row] = readRows<{ rows: number }>(file, `SELECT count(*) AS rows FROM ${table} WHERE scope = ${scope}`);
    return [table, row!.rows] as const;
  });
  return Object.fromEntries(tables.filter(([, rows]) => rows > 0));
}

/** Changes the bodies in the quarantine, for example to ones that this version understands, as a later one would. */
export function rewriteQuarantine(file: string, change: (body: Buffer, id: number) => Buffer | string): void {
  using db = connectExisting(file);
  const put = db.prepare('UPDATE quarantine SET body = ? WHERE id = ?');
  for (const { id, body } of db.prepare<[], { id: number; body: Buffer }>('SELECT id, body FROM quarantine').all())
    put.run(Buffer.from(change(body, id)), id);
}

export function makeNewer(file: string): number {
  const schema = MIGRATIONS.length + 1;
  using db = disposable(new Database(file));
  db.pragma(`user_version = ${schema}`);
  db.exec('CREATE TABLE of_the_future (a)');
  return schema;
}

export const isNewer = (file: string): boolean =>
  readRows(file, 'SELECT * FROM of_the_future').length === 0 &&
  readRows<{ user_version: number }>(file, 'PRAGMA user_version')[0]?.user_version === MIGRATIONS.length + 1;

export const pagesOf = (file: string, table: string): number[] =>
  readRows<{ pageno: number }>(file, `SELECT pageno FROM dbstat WHERE name = '${table}'`).map(({ pageno }) => pageno);

export function writeBack(file: string): void {
  using db = disposable(new Database(file));
  const isBusy = db.pragma('wal_checkpoint(TRUNCATE)', { simple: true });
  if (isBusy) throw new Error(`The log of ${file} was not written back: another connection was using it.`);
}

export const isSound = (file: string): boolean =>
  readRows<{ integrity_check: string }>(file, 'PRAGMA integrity_check')[0]?.integrity_check === 'ok';

/** Takes the write lock, as another program might; returns how to release it. Waits for it at most that long. */
export function lock(file: string, timeoutMs = 5_000): () => void {
  using stack = new DisposableStack();
  const db = stack.use(disposable(new Database(file, { timeout: timeoutMs })));
  db.exec('BEGIN IMMEDIATE');
  const held = stack.move();
  return () => held.dispose();
}

export function readRows<T>(file: string, sql: string): T[] {
  using db = disposable(new Database(file, { readonly: true }));
  return db.prepare<[], T>(sql).all();
}
