import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const SOURCE = resolve(import.meta.dirname, 'full-disk.c');

/** A disk that a test can fill: in its environment, the files of Postgres and SQLite cannot grow. */
export interface FillableDisk {
  environment: Record<string, string>;
  fill(): void;
  free(): void;
  [Symbol.dispose](): void;
}

/**
 * Makes such a disk, without the rights that a small file system would need. Null without Linux or a C compiler, and CI
 * fails then.
 */
export function createDisk(): FillableDisk | null {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerbell-disk-'));
  const library = join(folder, 'full-disk.so');
  const mark = join(folder, 'full');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    if (process.platform !== 'linux') throw new Error('LD_PRELOAD is for Linux.');
    execFileSync(process.env.CC ?? 'cc', ['-shared', '-fPIC', '-o', library, SOURCE], { stdio: 'pipe' });
  } catch (error) {
    remove();
    const what =
      'No full disk is played: that takes Linux and a C compiler (on Debian: apt-get install gcc libc6-dev).';
    if (process.env.CI) throw new Error(what, { cause: error });
    console.warn(what);
    return null;
  }
  // The server runs as another user.
  chmodSync(folder, 0o755);
  return {
    environment: { LD_PRELOAD: library, FULL_DISK: mark },
    fill: () => writeFileSync(mark, ''),
    free: () => rmSync(mark, { force: true }),
    [Symbol.dispose]: remove,
  };
}
