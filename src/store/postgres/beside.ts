import type { Store } from '../store.ts';
import { connect } from './connection.ts';
import { WORKING } from './leadership.ts';
import { SCHEMA_VERSION, versionOf } from './schema.ts';
import { openTables } from './tables.ts';
import { shownUrl } from './url.ts';

/** A database as a tool uses it while processes run: nothing is created or migrated. */
export interface Beside {
  store: Store;
  close(): Promise<void>;
}

/** Opens a database for a tool; throws an Error with a message for the operator when its schema is another one. */
export async function openBeside(url: string): Promise<Beside> {
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

/** The state of a database: its server's version, its schema (0: none) and this program's, and whether a process works. */
export interface Examination {
  server: string;
  schema: number;
  newest: number;
  isWorking: boolean;
}

/** Looks at a database without changing it; rejects with a `StoreError` when it cannot be reached. */
export async function examine(url: string): Promise<Examination> {
  await using stack = new AsyncDisposableStack();
  const { reads } = stack.adopt(connect(url), ({ close }) => close());
  const server = await reads.get<{ version: string }>(
    `SELECT split_part(current_setting('server_version'), ' ', 1) AS version`,
  );
  const working = await reads.get<{ held: boolean }>(`SELECT EXISTS (${WORKING}) AS held`);
  return { server: server!.version, schema: await versionOf(reads), newest: SCHEMA_VERSION, isWorking: working!.held };
}
