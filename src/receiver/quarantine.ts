import type { Logger } from 'pino';
import { MIB } from '../domain/bytes.ts';
import { OPERATOR_SCOPE } from '../domain/scope.ts';
import type { Store } from '../store/store.ts';
import type { Quotas } from './quotas.ts';

/** With this many bytes in quarantine, deliveries are refused: unreadable bodies must not fill the disk. */
const MAX_ALL = { rows: 10_000, bytes: 50 * MIB };
/** The same for each guild with a project of its own. */
const MAX_OWN = { rows: 1_000, bytes: 5 * MIB };

/** Measures which scopes have a full quarantine, and refuses their deliveries as of the last measurement. */
export function createQuarantineLimit(
  { quarantine }: Pick<Store, 'quarantine'>,
  quotas: Pick<Quotas, 'quarantineFull'>,
  log: Logger,
) {
  let full: ReadonlySet<number> = new Set();
  return {
    /** Why the operator's deliveries are refused; null: they are not. */
    fault: (): string | null =>
      full.has(OPERATOR_SCOPE) ? 'the quarantine of unreadable deliveries is full: npm run deadletters -- list' : null,

    /** Measures the quarantine; when that fails, the last measurement stays. */
    async measure(): Promise<void> {
      try {
        const sizes = await quarantine.sizes();
        const over = sizes.filter(({ scope, rows, bytes }) => {
          const limit = scope === OPERATOR_SCOPE ? MAX_ALL : MAX_OWN;
          return rows >= limit.rows || bytes >= limit.bytes;
        });
        const before = full;
        full = new Set(over.map(({ scope }) => scope));
        quotas.quarantineFull(full);
        for (const size of over)
          if (!before.has(size.scope)) log.error(size, 'quarantine is full: rejecting deliveries');
        for (const scope of before) {
          if (!full.has(scope)) log.info({ scope }, 'quarantine has room: accepting deliveries again');
        }
      } catch (error) {
        log.warn({ err: error }, 'cannot measure the quarantine');
      }
    },
  };
}
