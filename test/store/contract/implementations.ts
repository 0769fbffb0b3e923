import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, onTestFinished } from 'vitest';
import { openStore } from '../../../src/store/sqlite/client.ts';
import type { Store } from '../../../src/store/store.ts';

/** Opens an empty store, which is gone after `close`. */
type Open = () => Promise<{ store: Store; close(): Promise<void> }>;

/** Every implementation of the port. Whatever is added here must pass the whole contract. */
const IMPLEMENTATIONS: Record<string, Open> = {
  async SQLite() {
    const folder = mkdtempSync(join(tmpdir(), 'ledgerbell-contract-'));
    const { store, close } = await openStore(join(folder, 'test.sqlite'));
    return {
      store,
      async close() {
        await close();
        rmSync(folder, { recursive: true });
      },
    };
  },
};

/** Runs a part of the contract on every implementation; `open` gives the calling test an empty store. */
export function contract(part: string, define: (open: () => Promise<Store>) => void): void {
  describe.each(Object.entries(IMPLEMENTATIONS))(`${part} in %s`, (_name, openEmpty) => {
    define(async () => {
      const { store, close } = await openEmpty();
      onTestFinished(close);
      return store;
    });
  });
}
