import type { Database } from 'better-sqlite3';
import { openTables } from '../../src/store/sqlite/tables.ts';
import type { Cursor } from '../../src/store/store.ts';

/**
 * Deletes everything that is done with, as after the retention time, by the engine's tables alone; returns the
 * milliseconds of the longest step.
 */
export function pruneAll(db: Database): number {
  const { retention } = openTables(db);
  let [longest, at]: [number, Cursor<'retention'> | null] = [0, null];
  do {
    const began = performance.now();
    at = retention.prune(Date.now() + 60_000, at);
    longest = Math.max(longest, performance.now() - began);
  } while (at);
  return longest;
}
