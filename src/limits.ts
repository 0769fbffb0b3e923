import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MIB } from './domain/units.ts';
import { ConfigError } from './errors.ts';

/** With less memory, the system ends the process sooner or later. */
const MIN_MEMORY_BYTES = 192 * MIB;
/** With fewer open files, a burst of connections leaves none for the database. */
const MIN_FILES = 256;

/** Open files that are kept for the database, the gateway and outgoing requests. */
const OTHER_FILES = 128;
const MAX_CONNECTIONS = 10_000;

export interface Limits {
  memoryBytes: number | null;
  openFiles: number | null;
}

export function readLimits(): Limits {
  const memoryBytes = process.constrainedMemory();
  return { memoryBytes: memoryBytes > 0 ? memoryBytes : null, openFiles: openFiles() };
}

function openFiles(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    // Only Linux has this file.
    return null;
  }
}

/** Rejects where the file system does not report them. */
export async function freeBytes(file: string): Promise<number> {
  const { bavail, bsize } = await statfs(dirname(file));
  return bavail * bsize;
}

export const maxConnections = ({ openFiles }: Pick<Limits, 'openFiles'>): number =>
  openFiles === null ? MAX_CONNECTIONS : Math.min(MAX_CONNECTIONS, openFiles - OTHER_FILES);

export function assertLimits({ memoryBytes, openFiles }: Limits): void {
  if (memoryBytes !== null && memoryBytes < MIN_MEMORY_BYTES) {
    throw new ConfigError(
      `Ledgerbell cannot start: it may use ${Math.floor(memoryBytes / 2 ** 20)} MiB of memory and needs ` +
        `${MIN_MEMORY_BYTES / 2 ** 20} MiB. Raise the memory limit of its container or unit (MemoryMax=).`,
    );
  }
  if (openFiles !== null && openFiles < MIN_FILES) {
    throw new ConfigError(
      `Ledgerbell cannot start: it may open ${openFiles} files and needs ${MIN_FILES}. ` +
        'Raise the limit (ulimit -n, or LimitNOFILE= in its unit).',
    );
  }
}
