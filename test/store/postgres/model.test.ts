import { afterAll, beforeAll, describe } from 'vitest';
import { modelTest } from '../../delivery/model.ts';
import { openForTest } from './opened.ts';
import { isPostgresMissing, type PostgresServer, startPostgres } from './server.ts';

describe.skipIf(isPostgresMissing())('on Postgres', () => {
  let server: PostgresServer;
  let url: string;
  beforeAll(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  modelTest({ numRuns: 6, openStore: () => openForTest(url) });
});
