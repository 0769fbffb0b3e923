import { afterAll, beforeAll, describe } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/client.ts';
import { modelTest } from '../../delivery/model.ts';
import { isPostgresMissing, type PostgresServer, startPostgres } from './server.ts';

describe.skipIf(isPostgresMissing())('on Postgres', () => {
  let server: PostgresServer;
  let url: string;
  beforeAll(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  modelTest({ numRuns: 6, openStore: () => openPostgresStore(url) });
});
