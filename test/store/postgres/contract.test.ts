import { afterAll, beforeAll, describe } from 'vitest';
import { storeContract } from '../contract/index.ts';
import { openForTest } from './opened.ts';
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
    return openForTest(url);
  });
});
