import { describe } from 'vitest';
import { StoreError } from '../../src/errors.ts';
import { portOver } from '../../src/store/queries/index.ts';
import { transactions } from '../../src/store/sqlite/database.ts';
import { storeContract } from '../store/contract/index.ts';
import { openHere } from '../store/sqlite/opened.ts';

// In this thread, because mutants do not reach the database's own.
describe('SQLite', () => {
  storeContract(async () => {
    const db = openHere();
    const connection = transactions(db);
    let last: Promise<unknown> = Promise.resolve();
    const store = portOver(({ mode, run }, ...args) => {
      const called = last.then(() => connection.run(mode, run, ...args));
      last = called.catch(() => undefined);
      return called.catch((error: Error & { code?: string }) => {
        throw new StoreError(error.message, error.code ?? '');
      });
    });
    return { store, close: async () => void db.close() };
  });
});
