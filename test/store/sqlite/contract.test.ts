import { describe } from 'vitest';
import { storeContract } from '../contract/index.ts';
import { takeStore } from './reused.ts';

describe('SQLite', () => {
  storeContract(async () => {
    const { open, giveBack } = await takeStore();
    const { store, close } = await open();
    return {
      store,
      async close() {
        await close();
        giveBack();
      },
    };
  });
});
