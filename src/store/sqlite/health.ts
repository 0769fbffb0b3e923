import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Database } from 'better-sqlite3';
import { MIB } from '../../domain/bytes.ts';
import { realFile, whereBackups } from './folder.ts';

/** A database up to this size is checked as a whole at the start, which takes about a second on a slow machine. */
export const MAX_CHECKED_BYTES = 64 * MIB;
/** The tables that a delivery needs: in a larger database, only these are checked at the start. */
export const VITAL_TABLES = ['meta', 'receiver_tokens', 'channels', 'subscriptions', 'inbox'];

/** The code of an error about files that were removed or replaced. */
export const REPLACED = 'LEDGERBELL_REPLACED';

/** Whether SQLite reports a damaged file. */
export const isDamage = (code: string | undefined): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(code ?? '');

/** The message about a damaged database, with what to do. */
export const damageMessage = (file: string, fault: string): string =>
  `${file} is damaged: ${fault}. Check the disk, then restore the newest backup: ` +
  `npm run restore -- <backup>. Backups are in ${whereBackups(file)}.`;

/** Whether a database is of a size that is checked as a whole at the start. */
export const isSmall = (file: string): boolean => statSync(file).size <= MAX_CHECKED_BYTES;

/** The first fault in the structure of a table, or of the whole file; null when there is none. */
export function findFault(db: Database, table?: string): string | null {
  try {
    const found = db.pragma(table === undefined ? 'quick_check(1)' : `quick_check('${table}')`, { simple: true });
    // SQLite returns each fault as a row instead of throwing.
    return found === 'ok' ? null : String(found).replaceAll(/\s+/g, ' ');
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (isDamage(code)) return message;
    throw error;
  }
}

/** Path and identity of the open database file, its log and the log's index. */
export type FileIdentities = readonly { path: string; identity: string | null }[];

const STAT_OPTIONS = { bigint: true, throwIfNoEntry: false } as const;
const identityOf = (found: { dev: bigint; ino: bigint } | undefined): string | null =>
  found === undefined ? null : `${found.dev}:${found.ino}`;

/** Identifies the files of a database that was just opened. */
export function identify(file: string): FileIdentities {
  // SQLite keeps the log next to the target of a link.
  const real = realFile(file);
  return [...new Set([file, real, `${real}-wal`, `${real}-shm`])].map((path) => ({
    path,
    identity: identityOf(statSync(path, STAT_OPTIONS)),
  }));
}

const changeOf = (path: string, now: string | null): string => `${path} was ${now === null ? 'removed' : 'replaced'}`;

/** Returns which file was removed or replaced since it was opened; null: none. */
export function findChange(opened: FileIdentities): string | null {
  for (const { path, identity } of opened) {
    const now = identityOf(statSync(path, STAT_OPTIONS));
    if (now !== identity) return changeOf(path, now);
  }
  return null;
}

/** Like {@link findChange}, but asynchronous. */
export async function findChangeAsync(opened: FileIdentities): Promise<string | null> {
  for (const { path, identity } of opened) {
    const found = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
      return undefined;
    });
    const now = identityOf(found);
    if (now !== identity) return changeOf(path, now);
  }
  return null;
}
