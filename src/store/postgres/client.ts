import type { OpenStore, StoreListener } from '../open-store.ts';
import { connect } from './connection.ts';
import { migrate } from './schema.ts';
import { openTables } from './tables.ts';

/** Opens a Postgres database and creates or updates its tables; rejects with a `StoreError` or a `ConfigError`. */
export async function openPostgresStore(
  url: string,
  { onProgress = () => undefined }: Pick<StoreListener, 'onProgress'> = {},
): Promise<OpenStore> {
  const connection = connect(url);
  try {
    await migrate(connection, onProgress);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    store: openTables(connection),
    /** Nothing to check beside the calls themselves: the server looks after its files. */
    check: async () => null,
    syncMs: connection.receiveMs,
    close: connection.close,
  };
}
