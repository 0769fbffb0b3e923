import { statSync } from 'node:fs';
import type { Logger } from 'pino';
import { type Clock, SECOND } from '../domain/clock.ts';
import { repeat } from '../domain/repeat.ts';
import type { StoreListener } from '../store/open-store.ts';

const LOG_EVERY_MS = 10 * SECOND;

/**
 * Logs what a migration of `file` does, and every ten seconds that it still does it, with the bytes that it has written:
 * to the copy of the database, then to the log (`-wal`) that holds a step's changes.
 */
export function logMigration(
  file: string,
  { clock, log }: { clock: Clock; log: Logger },
): { onProgress: NonNullable<StoreListener['onProgress']>; stop(): void } {
  let stop = () => {};

  function watch(details: object, since: number): void {
    const growing = 'copy' in details ? `${String(details.copy)}.partial` : `${file}-wal`;
    stop = repeat(clock, LOG_EVERY_MS, () => {
      const writtenBytes = statSync(growing, { throwIfNoEntry: false })?.size ?? 0;
      const seconds = Math.round((clock.now() - since) / SECOND);
      log.info({ ...details, seconds, writtenBytes }, 'migration: still working');
    });
  }

  return {
    onProgress(details, message) {
      stop();
      log.info(details, message);
      watch(details, clock.now());
    },
    /** Ends the report: the database is open, or cannot be opened. */
    stop: () => stop(),
  };
}
