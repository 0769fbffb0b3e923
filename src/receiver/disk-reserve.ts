import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { type Clock, SECOND } from '../domain/clock.ts';

const EVERY_MS = 10 * SECOND;

/**
 * Checks every 10 s how much of the database's disk is free, and logs when that becomes less than `reserveBytes`; returns a
 * stop function.
 */
export function watchDisk(options: {
  file: string;
  reserveBytes: number;
  clock: Clock;
  log: Logger;
  onChecked(freeBytes: number): void;
  freeBytes?: (file: string) => Promise<number>;
}): () => void {
  const { file, reserveBytes, clock, log, onChecked, freeBytes = freeBytesOf } = options;
  let wasLow = false;
  let cancel = () => {};
  let isStopped = false;

  async function check(): Promise<void> {
    // A file system that does not report its size keeps no reserve.
    const free = await freeBytes(file).catch(() => Number.POSITIVE_INFINITY);
    if (isStopped) return;
    const isLow = free < reserveBytes;
    if (isLow && !wasLow)
      log.error({ freeBytes: free, reserveBytes }, 'disk almost full: rejecting deliveries to servers’ own URLs');
    wasLow = isLow;
    onChecked(free);
    cancel = clock.after(EVERY_MS, () => void check());
  }

  void check();
  return () => {
    isStopped = true;
    cancel();
  };
}

async function freeBytesOf(file: string): Promise<number> {
  const { bavail, bsize } = await statfs(dirname(file));
  return bavail * bsize;
}
