import { afterAll, beforeAll, describe } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/client.ts';
import { storeContract } from '../contract/index.ts';
import { emptyDatabase, isPostgresMissing, type PostgresServer, startPostgres } from './server.ts';

let server: PostgresServer;

describe.skipIf(isPostgresMissing())('Postgres', () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  let url: string | null = null;
  storeContract(async () => {
    if (url === null) url = await server.createDatabase();
    else await emptyDatabase(url);
    return openPostgresStore(url);
  });
});
