import { fstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { freeBytes } from '../limits.ts';

/** Bytes of the database and its newest commits (`wal`), if it is a file, and of the log, if it goes to a file. */
export async function fileSizes(database: string | null): Promise<Record<string, number>> {
  const sizeOf = (file: string) =>
    stat(file).then(
      ({ size }) => size,
      () => 0,
    );
  const log = logSize();
  return {
    ...(database !== null && { database: await sizeOf(database), wal: await sizeOf(`${database}-wal`) }),
    ...(log !== null && { log }),
  };
}

/** null: standard output is not a file. */
function logSize(): number | null {
  try {
    const found = fstatSync(process.stdout.fd);
    return found.isFile() ? found.size : null;
  } catch {
    return null;
  }
}

/** Free bytes on the disk of a file; null where the file system does not report them. */
export const diskFree = (file: string): Promise<number | null> => freeBytes(file).catch(() => null);
