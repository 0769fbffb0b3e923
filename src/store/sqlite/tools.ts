import { existsSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StoreError } from '../../errors.ts';
import type { Copyable } from '../copy.ts';
import { type Method, portOver } from '../queries/index.ts';
import { SCHEMA_VERSION, schemaFault } from '../schema.ts';
import type { Store } from '../store.ts';
import { disposable, openDatabase, setCheckpoints, takeLock, transactions, versionOf } from './database.ts';
import { isDamage } from './files.ts';

/** What the operator's commands open, in their own thread. */

const BUSY_MS = 10_000;

/** Also while a bot runs. Throws an Error for the operator when the file is missing or has another schema. */
export function connectExisting(file: string): Database.Database & Disposable {
  if (!existsSync(file)) throw new Error(`There is no database at ${file}. Set its path in DATABASE_URL.`);
  using stack = new DisposableStack();
  const db = stack.use(disposable(new Database(file, { fileMustExist: true, timeout: BUSY_MS })));
  const fault = schemaFault(versionOf(db), file);
  if (fault !== null) throw new Error(fault);
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  setCheckpoints(db);
  stack.move();
  return db;
}

/** The port over such a connection. */
export function openExisting(file: string): { store: Store; close(): void } {
  const db = connectExisting(file);
  const connection = transactions(db);
  let last: Promise<unknown> = Promise.resolve();
  const make = ({ mode, run }: Method, ...args: unknown[]): Promise<unknown> => {
    const made = last.then(() => connection.run(mode, run, ...args));
    last = made.catch(() => undefined);
    return made.catch((error: Error & { code?: string }) => {
      throw new StoreError(error.message, error.code);
    });
  };
  return { store: portOver(make), close: () => void db.close() };
}

/** Throws an Error with a message for the operator while a bot uses the file. */
export function openFileForCopy(file: string, { isSource }: { isSource: boolean }): Copyable {
  if (isSource && !existsSync(file)) throw new Error(`There is no database at ${file}.`);
  const { db, close } = openDatabase(file);
  return { name: file, run: transactions(db).run, [Symbol.asyncDispose]: async () => close() };
}

export type Examination =
  | { status: 'absent' }
  /** `schema` is the file's, `newest` this program's; `inUse`: a bot runs on it. */
  | { status: 'sound'; bytes: number; schema: number; newest: number; inUse: boolean }
  | { status: 'damaged' | 'unusable'; reason: string };

/** Changes nothing, also while a bot uses the file. Large files take minutes. */
export function examine(file: string): Examination {
  if (!existsSync(file)) return { status: 'absent' };
  try {
    using db = disposable(new Database(file, { readonly: true, fileMustExist: true }));
    const schema = versionOf(db);
    const found = String(db.pragma('quick_check(1)', { simple: true }));
    if (found !== 'ok') return { status: 'damaged', reason: found };
    return { status: 'sound', bytes: statSync(file).size, schema, newest: SCHEMA_VERSION, inUse: isInUse(file) };
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string };
    return { status: isDamage(code) ? 'damaged' : 'unusable', reason: message };
  }
}

function isInUse(file: string): boolean {
  try {
    takeLock(file).close();
    return false;
  } catch {
    return true;
  }
}
