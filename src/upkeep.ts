import type { Logger } from 'pino';
import { type Clock, DAY, HOUR, MINUTE } from './domain/clock.ts';
import type { RetentionCursor } from './domain/retention.ts';
import { eraseBegun, eraseRemoved } from './store/sqlite/erase.ts';
import type { Store } from './store/sqlite/tables.ts';

/** What was seen is remembered for this long. */
const MEMORY_MS = 30 * DAY;

/** Looks each minute, takes down what the ledger's full epochs hold, and forgets each hour what is old; gives how to stop. */
export function startUpkeep(
  store: Store,
  clock: Clock,
  log: Logger,
  { look, ...removal }: { look(): void } & Parameters<typeof eraseRemoved>[2],
): () => void {
  let stopPruning = () => {};
  const prune = async () => {
    try {
      await eraseBegun(store);
      await eraseRemoved(store, clock.now() - MEMORY_MS, removal);
      let at: RetentionCursor | null = null;
      do at = await store.pruning.step(clock.now() - MEMORY_MS, at);
      while (at);
    } catch (error) {
      log.warn({ err: error }, 'pruning paused');
    }
    stopPruning = clock.after(HOUR, () => void prune());
  };
  const takeDown = () => store.epochs.takeDown().catch((error: unknown) => log.warn({ err: error }, 'pruning paused'));
  const lookAgain = () => {
    look();
    void takeDown();
    stopLooking = clock.after(MINUTE, lookAgain);
  };
  let stopLooking = clock.after(MINUTE, lookAgain);
  void takeDown();
  void prune();
  return () => {
    stopPruning();
    stopLooking();
  };
}
