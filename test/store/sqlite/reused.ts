import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { StoreError } from '../../../src/errors.ts';
import type { OpenStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { afterFile } from '../../for-file.ts';
import { openStore } from './database-file.ts';

/**
 * Databases that tests use one after the other. Starting the threads of a database takes longer than most tests, so they
 * go on: before the next test, an empty database is written over the file.
 */

export interface StoreFile {
  file: string;
  /** Opens the database; after the first time, with new threads. */
  open(): Promise<OpenStore>;
  giveBack(): void;
}

interface Running {
  file: string;
  threads: OpenStore;
}

const NAME = 'test.sqlite';

const unused: Running[] = [];
let empty: Database.Database | null = null;

export async function takeStore(): Promise<StoreFile> {
  const running = (await reused()) ?? (await started());
  let isNew = true;
  return {
    file: running.file,
    async open() {
      if (!isNew) {
        await running.threads.close();
        running.threads = await openStore(running.file);
      }
      isNew = false;
      return lend(running.threads);
    },
    giveBack: () => void unused.push(running),
  };
}

/** A store for the running test. */
export async function storeForTest(): Promise<Store> {
  const { open, giveBack } = await takeStore();
  onTestFinished(giveBack);
  const { store, close } = await open();
  onTestFinished(close);
  return store;
}

/** A database that a test gave back, empty again; null when there is none, or the test has broken it. */
async function reused(): Promise<Running | null> {
  const running = unused.pop();
  if (!running) return null;
  const folder = dirname(running.file);
  try {
    await copy(empty!, running.file);
    for (const name of readdirSync(folder)) if (!name.startsWith(NAME)) rmSync(join(folder, name), { recursive: true });
    await running.threads.store.inbox.next(1);
    return running;
  } catch {
    // The file is locked, or no longer a database.
  }
  await end(running);
  return null;
}

async function started(): Promise<Running> {
  const file = join(temporaryFolder(), NAME);
  const running = { file, threads: await openStore(file) };
  empty ??= await copyOf(file);
  return running;
}

async function copyOf(file: string): Promise<Database.Database> {
  const folder = temporaryFolder();
  const original = new Database(file, { readonly: true });
  await copy(original, join(folder, NAME));
  original.close();
  const made = new Database(join(folder, NAME), { readonly: true });
  afterFile(async () => {
    empty = null;
    made.close();
    rmSync(folder, { recursive: true });
    for (const running of unused.splice(0)) await end(running);
  });
  return made;
}

/** Overwrites a file with every page of a database, at once; throws when it is locked. */
async function copy(database: Database.Database, file: string): Promise<void> {
  const { totalPages } = await database.backup(file, { progress: () => 1_000_000 });
  if (totalPages === 0) throw new Error(`${file} is locked.`);
}

async function end({ file, threads }: Running): Promise<void> {
  await threads.close();
  rmSync(dirname(file), { recursive: true });
}

const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'ledgerbell-store-'));

/** The same store until it is closed; its threads go on. */
function lend({ store, ...opened }: OpenStore): OpenStore {
  const calls = new Set<Promise<unknown>>();
  let isClosed = false;
  const lent =
    (method: (...args: unknown[]) => Promise<unknown>) =>
    async (...args: unknown[]) => {
      if (isClosed) throw new StoreError('The database is closed.', 'LEDGERBELL_CLOSED');
      const call = method(...args);
      calls.add(call);
      return call.finally(() => calls.delete(call));
    };
  const groups = Object.entries(store).map(([group, methods]) => [
    group,
    Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, lent(method as never)])),
  ]);
  return {
    ...opened,
    store: Object.fromEntries(groups) as Store,
    async close() {
      isClosed = true;
      await Promise.allSettled(calls);
    },
  };
}
