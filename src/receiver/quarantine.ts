import type { Logger } from 'pino';
import { OPERATOR_SCOPE } from '../domain/scope.ts';
import type { Store } from '../store/store.ts';

/** With this many bytes in quarantine, deliveries are refused: unreadable bodies must not fill the disk. */
const LIMIT = { rows: 10_000, bytes: 50 * 1024 * 1024 };
/** The same for each guild with a project of its own. */
const OWN_LIMIT = { rows: 1_000, bytes: 5 * 1024 * 1024 };

/** Knows which scopes have a full quarantine, as of the last measurement. */
export function createQuarantineLimit({ quarantine }: Pick<Store, 'quarantine'>, log: Logger) {
  let full: ReadonlySet<number> = new Set();
  return {
    isFull: (scope: number): boolean => full.has(scope),

    /** Measures the quarantine; when that fails, the last measurement stays. */
    async measure(): Promise<void> {
      try {
        const sizes = await quarantine.sizes();
        const over = sizes.filter(({ scope, rows, bytes }) => {
          const limit = scope === OPERATOR_SCOPE ? LIMIT : OWN_LIMIT;
          return rows >= limit.rows || bytes >= limit.bytes;
        });
        for (const size of over) log.error(size, 'quarantine is full: rejecting deliveries');
        full = new Set(over.map(({ scope }) => scope));
      } catch (error) {
        log.warn({ err: error }, 'cannot measure the quarantine');
      }
    },
  };
}
