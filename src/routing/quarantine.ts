import type { Logger } from 'pino';
import { type Clock, SECOND } from '../domain/clock.ts';
import { isOperatorScope } from '../domain/project.ts';
import { MIB } from '../domain/units.ts';
import type { Store } from '../store/store.ts';

/** How much of what the operator's URL received keeps its bytes: unreadable bodies must not fill the disk. */
const KEPT = { rows: 10_000, bytes: 50 * MIB };
/** The same for each guild with a project of its own. */
const KEPT_OF_OWN = { rows: 1_000, bytes: 5 * MIB };
/** How often the quarantine is measured while deliveries are added to it. */
const EVERY_MS = 10 * SECOND;

/** Lets the oldest deliveries in quarantine give up their bytes where there are too many. It refuses nothing. */
export function limitQuarantine(
  { quarantine }: Pick<Store, 'quarantine'>,
  { clock, log }: { clock: Pick<Clock, 'elapsed'>; log: Logger },
) {
  let measuredAt = Number.NEGATIVE_INFINITY;
  let isFull = new Set<number>();

  /** Lets a scope's oldest deliveries give up their bytes, step by step, until none are too many; returns how many did. */
  async function shrink(scope: number, keep: typeof KEPT): Promise<number> {
    let givenUp = 0;
    for (;;) {
      const step = await quarantine.giveUp(scope, keep);
      if (step === 0) return givenUp;
      givenUp += step;
    }
  }

  /** Measures the quarantine and enforces the limits; logs once that a scope exceeds them. */
  async function measure(): Promise<void> {
    measuredAt = clock.elapsed();
    try {
      const full = new Set<number>();
      for (const size of await quarantine.sizes()) {
        const { scope, rows, bytes } = size;
        const keep = isOperatorScope(scope) ? KEPT : KEPT_OF_OWN;
        // Another one takes the place of each that gives up its bytes, so a full quarantine stays at the limit.
        if (rows < keep.rows && bytes < keep.bytes) continue;
        full.add(scope);
        const givenUp = await shrink(scope, keep);
        if (!isFull.has(scope))
          log.error(
            { ...size, givenUp },
            'quarantine is full: its oldest deliveries lose their bytes (npm run deadletters -- list)',
          );
      }
      isFull = full;
    } catch (error) {
      log.warn({ err: error }, 'cannot measure the quarantine');
    }
  }

  return {
    measure,
    added(): void {
      if (clock.elapsed() - measuredAt >= EVERY_MS) void measure();
    },
  };
}
