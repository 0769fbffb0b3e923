import type { Logger } from 'pino';
import { OPERATOR_SCOPE } from '../domain/scope.ts';
import type { Store } from '../store/store.ts';
import type { Intake } from './intake.ts';

/** With so much set aside new deliveries are refused: nobody shall fill the disk with what cannot be understood. */
const MOST = { rows: 10_000, bytes: 50 * 1024 * 1024 };
/** The same for each guild with a project of its own. */
const OWN_MOST = { rows: 1_000, bytes: 5 * 1024 * 1024 };

/** Measures the quarantine, and has the intake refuse deliveries for the scopes that have too much in it. */
export async function watchQuarantine(
  { quarantine }: Pick<Store, 'quarantine'>,
  intake: Intake,
  log: Logger,
): Promise<void> {
  try {
    const full = (await quarantine.sizes()).filter(({ scope, rows, bytes }) => {
      const most = scope === OPERATOR_SCOPE ? MOST : OWN_MOST;
      return rows >= most.rows || bytes >= most.bytes;
    });
    for (const scope of full) log.error(scope, 'quarantine is full: rejecting deliveries');
    intake.setQuarantineFull(new Set(full.map(({ scope }) => scope)));
  } catch (error) {
    log.warn({ err: error }, 'cannot measure the quarantine');
  }
}
