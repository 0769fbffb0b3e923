import { it } from 'vitest';
import { afterFile } from '../../for-file.ts';
import { startPostgres } from './server.ts';

/** Starts a Postgres that ends with the tests of the present file. */
export async function postgresOfFile(...settings: Parameters<typeof startPostgres>) {
  const server = await startPostgres(...settings);
  afterFile(() => server[Symbol.asyncDispose]());
  return server;
}

/** Tests that share a Postgres; `url`: an empty database of the test's own. */
export const onPostgres = it
  .extend('server', { scope: 'file' }, () => postgresOfFile())
  .extend('url', ({ server }) => server.createDatabase());
