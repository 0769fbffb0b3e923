import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { type Clock, SECOND } from '../domain/clock.ts';

const EVERY_MS = 10 * SECOND;

/** Checks every 10 s whether less than `reserveBytes` of the database's disk is free; returns a stop function. */
export function watchDisk(options: {
  file: string;
  reserveBytes: number;
  clock: Clock;
  log: Logger;
  onLow(isLow: boolean): void;
  freeBytes?: (file: string) => Promise<number>;
}): () => void {
  const { file, reserveBytes, clock, log, onLow, freeBytes = freeBytesOf } = options;
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
    onLow(isLow);
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
