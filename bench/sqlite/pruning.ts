import type { Database } from 'better-sqlite3';
import type { RetentionCursor } from '../../src/domain/retention.ts';
import { openTables } from '../../src/store/sqlite/tables.ts';

/**
 * Deletes everything that is done with, as after the retention time, by the engine's tables alone; returns the
 * milliseconds of the longest step.
 */
export function pruneAll(db: Database): number {
  const { retention } = openTables(db);
  let [longest, at]: [number, RetentionCursor | null] = [0, null];
  do {
    const began = performance.now();
    at = retention.prune(Date.now() + 60_000, at);
    longest = Math.max(longest, performance.now() - began);
  } while (at);
  return longest;
}
