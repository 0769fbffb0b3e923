import { describe } from 'vitest';
import { storeContract } from '../contract/index.ts';
import { postgresOfFile } from './on-postgres.ts';
import { openForTest } from './opened.ts';
import { emptyDatabase, isPostgresMissing } from './server.ts';

describe.skipIf(isPostgresMissing())('Postgres', () => {
  let url: string | null = null;
  storeContract(async () => {
    if (url === null) url = await (await postgresOfFile()).createDatabase();
    else await emptyDatabase(url);
    return openForTest(url);
  });
});
