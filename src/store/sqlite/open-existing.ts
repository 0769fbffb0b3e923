import { StoreError } from '../../errors.ts';
import type { Store } from '../store.ts';
import { connectExisting } from './database.ts';
import { type Call, type On, portOver } from './methods.ts';
import { openReadMethods } from './read-methods.ts';
import { openTables } from './tables.ts';

/**
 * Opens a database for a tool in this thread, also while a bot runs; throws an Error with a message for the operator when
 * the file is missing or has another schema version.
 */
export function openExisting(file: string): { store: Store; close(): void } {
  const db = connectExisting(file);
  const tables = openTables(db);
  const groups = { read: openReadMethods(db), 'read now': tables, write: tables };
  const atOneMoment = db.transaction((run: () => unknown) => run());
  async function call(on: On, { group, method, args }: Call): Promise<unknown> {
    // A call names a method together with its arguments, which the compiler cannot follow through an index.
    const methods = groups[on] as unknown as Record<string, Record<string, (...args: unknown[]) => unknown>>;
    const run = () => methods[group]![method]!(...args);
    try {
      return on === 'read now' ? atOneMoment(run) : run();
    } catch (error) {
      const { message, code } = error as Error & { code?: string };
      throw new StoreError(message, code);
    }
  }
  return { store: portOver(call), close: () => void db.close() };
}
