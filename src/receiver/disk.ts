import type { Logger } from 'pino';
import { type Clock, MINUTE, SECOND } from '../domain/clock.ts';
import { freeBytes as freeBytesOf } from '../limits.ts';

const EVERY_MS = 10 * SECOND;
/** After the disk was full, free space is reserved for the operator for this long. */
const FULL_MS = MINUTE;
/** Bytes that a byte of a body takes on the disk, at most: in the log, in the database, and in what is routed from it. */
const BYTES_PER_BYTE = 4;

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
  const { file, reserveBytes, log, freeBytes = freeBytesOf, reusableBytes } = options;
  const { after, elapsed } = options.clock;
  /** Free bytes at the last check, less what may have been written since. */
  let free = Number.POSITIVE_INFINITY;
  let fullAt = Number.NEGATIVE_INFINITY;
  let wasLow = false;
  let isStopped = false;
  let cancel = (): void => undefined;

  async function check(path: string): Promise<void> {
    // A file system that does not report its size keeps no reserve.
    const [onDisk, inFile] = await Promise.all([
      freeBytes(path).catch(() => Number.POSITIVE_INFINITY),
      reusableBytes().catch(() => 0),
    ]);
    const found = onDisk + inFile;
    if (isStopped) return;
    free = found;
    const isLow = found < reserveBytes;
    if (isLow && !wasLow)
      log.error(
        { freeBytes: found, reserveBytes },
        'disk almost full: rejecting deliveries to servers’ own URLs, deleting transfers of uncataloged tokens',
      );
    wasLow = isLow;
    cancel = after(EVERY_MS, () => void check(path));
  }

  if (file !== null) void check(file);
  return {
    isLow: (): boolean => free < reserveBytes || elapsed() - fullAt < FULL_MS,
    wrote(bytes: number): void {
      free -= bytes * BYTES_PER_BYTE;
    },
    wasFull(): void {
      fullAt = elapsed();
    },
    close(): void {
      isStopped = true;
      cancel();
    },
  };
}

/** A storage fault is forgotten after this, because the database may work again. */
const FAULT_MS = 5 * MINUTE;
/** A disk counts as slow until no delivery was refused because of it for this long. */
const SLOW_MS = 10 * SECOND;

export type StorageFault = ReturnType<typeof createStorageFault>;

/** `syncMs`: how long the last commit took, or the current one has taken. */
export function createStorageFault(options: { clock: Pick<Clock, 'elapsed'>; syncMs(): number; log: Logger }) {
  const { syncMs, log } = options;
  const { elapsed } = options.clock;
  let fault: { reason: string; isSlow: boolean; at: number } | null = null;

  function record(reason: string, isSlow: boolean): void {
    const isChange = isSlow ? !fault?.isSlow : fault?.reason !== reason;
    fault = { reason, isSlow, at: elapsed() };
    if (isChange) log.error({ reason }, 'cannot store deliveries: returning 503, the sender will retry');
  }

  return {
    failed: (reason: string): void => record(reason, false),
    slow: (): void => record(`storing takes too long: the disk took ${Math.round(syncMs())} ms to sync`, true),
    /** On a slow disk the next deliveries may still fail. */
    stored(): void {
      if (fault === null || (fault.isSlow && elapsed() - fault.at < SLOW_MS)) return;
      fault = null;
      log.info('deliveries can be stored again');
    },
    reason: (): string | null => (fault !== null && elapsed() - fault.at < FAULT_MS ? fault.reason : null),
  };
}
