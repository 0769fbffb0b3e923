import type { OpenStore, StoreListener } from '../open-store.ts';
import type { Store } from '../store.ts';
import { type Connection, connect, TAKING_WRITES } from './connection.ts';
import { createLeadership, type Leadership, type LeadershipOptions, type Term } from './leadership.ts';
import { migrate, SCHEMA_VERSION } from './schema.ts';
import { openTables } from './tables.ts';
import { clientConfig, shownUrl } from './url.ts';

/** A database with the other processes that use it. */
export interface SharedStore extends OpenStore {
  /** The URL without its password. */
  name: string;
  schema: number;
  leadership: Leadership;
  /** The port for the process that works: what it writes fails with LEDGERBELL_NOT_LEADER once another was elected. */
  during(term: Term): Store;
}

type Progress = { onProgress?: StoreListener['onProgress'] | undefined };

/** Opens a Postgres database and creates or updates its tables; rejects with a `StoreError` or a `ConfigError`. */
export async function openPostgresStore(url: string, { onProgress }: Progress = {}): Promise<OpenStore> {
  return toStore(await open(url, { onProgress }));
}

/** Opens a Postgres database that other processes use, too. */
export async function openSharedStore(
  url: string,
  { onProgress, ...options }: Progress & Omit<LeadershipOptions, 'config' | 'takingWrites' | 'onAway' | 'onBack'>,
): Promise<SharedStore> {
  await using stack = new AsyncDisposableStack();
  const connection = stack.adopt(await open(url, { onProgress }), ({ close }) => close());
  const { doubt: onAway, renew: onBack } = connection;
  const given = { config: clientConfig(url), takingWrites: TAKING_WRITES, onAway, onBack };
  const leadership = stack.adopt(createLeadership({ ...options, ...given }), ({ close }) => close());
  const opened = stack.move();
  return {
    ...toStore(connection),
    name: shownUrl(url),
    schema: SCHEMA_VERSION,
    leadership,
    during: (term) => openTables(connection.during(term)),
    close: () => opened.disposeAsync(),
  };
}

async function open(url: string, { onProgress = () => undefined }: Progress): Promise<Connection> {
  await using stack = new AsyncDisposableStack();
  const connection = stack.adopt(connect(url), ({ close }) => close());
  await migrate(connection, onProgress);
  stack.move();
  return connection;
}

const toStore = (connection: Connection): OpenStore => ({
  store: openTables(connection),
  /** Nothing to check besides the calls themselves: the server looks after its files. */
  check: async () => null,
  syncMs: connection.receiveMs,
  close: connection.close,
});
