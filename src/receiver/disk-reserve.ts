import type { Logger } from 'pino';
import { type Clock, MINUTE, SECOND } from '../domain/clock.ts';
import { freeBytes as freeBytesOf } from '../limits.ts';

const EVERY_MS = 10 * SECOND;
/** After the disk was full, free space is reserved for the operator for this long. */
const DISK_FULL_MS = MINUTE;
/** Bytes that a byte of a body takes on the disk, at most: in the log, in the database, and in what is routed from it. */
const BYTES_PER_BYTE = 4;

/** Tracks whether the free bytes of the disk are all reserved for the operator. */
export function createDiskReserve(reserveBytes: number, now: () => number) {
  /** Free bytes at the last check, less what may have been written since. */
  let freeBytes = Number.POSITIVE_INFINITY;
  let fullAt = Number.NEGATIVE_INFINITY;
  return {
    isLow: (): boolean => freeBytes < reserveBytes || now() - fullAt < DISK_FULL_MS,
    /** How many bytes are free now. */
    setFree(bytes: number): void {
      freeBytes = bytes;
    },
    /** A commit failed because the disk is full. */
    setFull(): void {
      fullAt = now();
    },
    /** A body of this many bytes was stored. */
    wrote(bytes: number): void {
      freeBytes -= bytes * BYTES_PER_BYTE;
    },
  };
}

/**
 * Checks at once, and 10 s after each check, how much of the database's disk is free. Logs when that becomes less than
 * `reserveBytes`. Returns a stop function.
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
  let isStopped = false;
  let cancel = () => {};

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

  // Not with `repeat`, which cannot run at once: a first check beside it could overlap the second.
  void check();
  return () => {
    isStopped = true;
    cancel();
  };
}
