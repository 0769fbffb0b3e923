import { describe } from 'vitest';
import { modelTest } from '../../delivery/model.ts';
import { postgresOfFile } from './on-postgres.ts';
import { openForTest } from './opened.ts';
import { isPostgresMissing } from './server.ts';

describe.skipIf(isPostgresMissing())('on Postgres', () => {
  let url: string | null = null;
  modelTest({
    numRuns: 6,
    async openStore() {
      url ??= await (await postgresOfFile()).createDatabase();
      return openForTest(url);
    },
  });
});
