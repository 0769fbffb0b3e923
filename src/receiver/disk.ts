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

/** A storage fault is forgotten after this, because the database may work again. */
const FAULT_MS = 5 * MINUTE;
/** A disk counts as slow until no delivery was refused because of it for this long. */
const SLOW_MS = 10 * SECOND;

export type StorageFault = ReturnType<typeof createStorageFault>;

const SLOW = 'slow';

/** `syncMs`: how long the last commit took, or the current one has taken. */
export function createStorageFault(options: { clock: Pick<Clock, 'elapsed'>; syncMs(): number; log: Logger }) {
  const { syncMs, log } = options;
  const { elapsed } = options.clock;
  let fault: { kind: string; reason: string; at: number } | null = null;

  function failed(reason: string, kind = reason): void {
    if (kind !== fault?.kind) log.error({ reason }, 'cannot store deliveries: returning 503, the sender will retry');
    fault = { kind, reason, at: elapsed() };
  }

  return {
    failed: (reason: string): void => failed(reason),
    slow: (): void => failed(`storing takes too long: the disk took ${Math.round(syncMs())} ms to sync`, SLOW),
    /** On a slow disk the next deliveries may still fail. */
    stored(): void {
      if (fault === null || (fault.kind === SLOW && elapsed() - fault.at < SLOW_MS)) return;
      fault = null;
      log.info('deliveries can be stored again');
    },
    reason: (): string | null => (fault !== null && elapsed() - fault.at < FAULT_MS ? fault.reason : null),
  };
}
