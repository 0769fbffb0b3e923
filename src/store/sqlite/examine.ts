import { existsSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { disposable } from './disposable.ts';
import { takeLock } from './lock.ts';
import { MIGRATIONS } from './migrations.ts';

/** The state of a database file. */
export type Examination =
  | { status: 'absent' }
  /** `schema` is the file's, `newest` this program's; `inUse`: a bot runs on it. */
  | { status: 'sound'; bytes: number; schema: number; newest: number; inUse: boolean }
  | { status: 'damaged' | 'unusable'; reason: string };

/** Checks a whole database file without changing it, also while a bot uses it. Large files take minutes. */
export function examine(file: string): Examination {
  if (!existsSync(file)) return { status: 'absent' };
  try {
    using db = disposable(new Database(file, { readonly: true, fileMustExist: true }));
    const schema = Number(db.pragma('user_version', { simple: true }));
    const found = String(db.pragma('quick_check(1)', { simple: true }));
    if (found !== 'ok') return { status: 'damaged', reason: found };
    return { status: 'sound', bytes: statSync(file).size, schema, newest: MIGRATIONS.length, inUse: isInUse(file) };
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string };
    const isDamaged = /^SQLITE_(CORRUPT|NOTADB)/.test(code);
    return { status: isDamaged ? 'damaged' : 'unusable', reason: message };
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
