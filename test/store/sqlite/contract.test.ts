import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { openStore } from '../../../src/store/sqlite/client.ts';
import { storeContract } from '../contract/index.ts';

describe('SQLite', () => {
  storeContract(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ledgerbell-contract-'));
    const { store, close } = await openStore(join(folder, 'test.sqlite'));
    return {
      store,
      async close() {
        await close();
        rmSync(folder, { recursive: true });
      },
    };
  });
});
