import type { Store } from '../store.ts';
import { connect } from './connection.ts';
import { SCHEMA_VERSION, versionOf } from './schema.ts';
import { openTables } from './tables.ts';
import { shownUrl } from './url.ts';

/** A database that a tool opened; processes may be running on it. */
export interface ExistingStore {
  store: Store;
  close(): Promise<void>;
}

/**
 * Opens a database for a tool, without creating or migrating anything. Throws an Error with a message for the operator
 * when its schema is another one.
 */
export async function openExisting(url: string): Promise<ExistingStore> {
  await using stack = new AsyncDisposableStack();
  const connection = stack.adopt(connect(url), ({ close }) => close());
  const version = await versionOf(connection.reads);
  if (version === 0) throw new Error(`There is no Ledgerbell in ${shownUrl(url)}. Set DATABASE_URL to its database.`);
  if (version !== SCHEMA_VERSION) {
    const todo = version < SCHEMA_VERSION ? 'Start the Ledgerbell of this version once.' : 'Use the newer version.';
    throw new Error(`${shownUrl(url)} has schema ${version}; this version uses schema ${SCHEMA_VERSION}. ${todo}`);
  }
  stack.move();
  return { store: openTables(connection), close: connection.close };
}
