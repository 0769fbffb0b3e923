import type { Logger } from 'pino';
import { type Clock, MINUTE, repeat, SECOND } from '../domain/clock.ts';
import { freeBytes as freeBytesOf } from '../limits.ts';

const EVERY_MS = 10 * SECOND;
/** After the disk was full, free space is reserved for the operator for this long. */
const FULL_MS = MINUTE;

export type Disk = ReturnType<typeof watchDisk>;

/** `file` null: the database is on a server. */
export function watchDisk(options: {
  file: string | null;
  reserveBytes: number;
  clock: Pick<Clock, 'after' | 'elapsed'>;
  log: Logger;
  freeBytes?: (file: string) => Promise<number>;
  /** Bytes in the database file that new rows reuse: they count as free. */
  reusableBytes(): Promise<number>;
}) {
  const { file, reserveBytes, clock, log, freeBytes = freeBytesOf, reusableBytes } = options;
  let isLow = false;
  let fullAt = Number.NEGATIVE_INFINITY;

  async function check(path: string): Promise<void> {
    // A file system that does not report its size keeps no reserve.
    const onDisk = await freeBytes(path).catch(() => Number.POSITIVE_INFINITY);
    const free = onDisk + (await reusableBytes().catch(() => 0));
    const wasLow = isLow;
    isLow = free < reserveBytes;
    if (!isLow || wasLow) return;
    log.error(
      { freeBytes: free, reserveBytes },
      'disk almost full: rejecting deliveries to servers’ own URLs, deleting transfers of uncataloged tokens',
    );
  }

  return {
    isLow: (): boolean => isLow || clock.elapsed() - fullAt < FULL_MS,
    wasFull(): void {
      fullAt = clock.elapsed();
    },
    close: file === null ? () => {} : repeat(clock, EVERY_MS, () => check(file), 0),
  };
}
