import { dirname, join } from 'node:path';

/** Where backups go and how they are named; without the database's library, which only its threads load. */

/** The folder beside a database where its backups go. */
export const backupFolder = (file: string): string => join(dirname(file), 'backups');

/** A time as it stands in file names: `2026-01-31T12-00-00-000Z`. */
export const stamp = (now: number): string => new Date(now).toISOString().replace(/[:.]/g, '-');
