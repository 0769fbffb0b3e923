import type Database from 'better-sqlite3';
import type { TokenFacts } from '../../chain/token.ts';
import { createChainStore } from './chain.ts';
import { openDatabase } from './database.ts';
import { createDeliveryStore } from './deliveries.ts';
import { createReplayStore } from './replays.ts';
import { createWebhookStore } from './webhooks.ts';

/** Every method that changes something is one transaction. */
export type NotificationStore = ReturnType<typeof openStore>;

const SHRINK_PAGES = 1000;

export function openStore(dir: string) {
  const db = openDatabase(dir);
  const deliveries = createDeliveryStore(db);
  return {
    /** Names this file, so that delivery ids of different files differ. */
    instance: db.prepare<[], string>('SELECT id FROM instance').pluck().get()!,
    webhooks: createWebhookStore(db),
    chain: createChainStore(db, deliveries),
    deliveries,
    replays: createReplayStore(db, deliveries),
    tokens: createTokenStore(db),
    commit: createCommit(db),
    /** Some megabytes of freed pages at a time. */
    shrink: () => void db.pragma(`incremental_vacuum(${SHRINK_PAGES})`),
    close: () => void db.close(),
  };
}

function createTokenStore(db: Database.Database) {
  const find = db.prepare<[string], TokenFacts & { askedAt: number }>(
    'SELECT name, symbol, decimals, asked_at AS askedAt FROM tokens WHERE address = ?',
  );
  const save = db.prepare('INSERT OR REPLACE INTO tokens VALUES (:address, :name, :symbol, :decimals, :now)');
  return {
    find: (address: string) => find.get(address),
    save: (address: string, facts: TokenFacts, now: number) => void save.run({ address, ...facts, now }),
  };
}

/** Calls of one turn of the event loop wait for the disk once. Work that throws undoes only its own changes. */
function createCommit(db: Database.Database) {
  let waiting: { work(): unknown; resolve(result: unknown): void; reject(error: Error): void }[] = [];

  function flush(): void {
    const all = waiting;
    waiting = [];
    try {
      const reports = db.transaction(() =>
        all.map(({ work, resolve, reject }) => {
          try {
            const result = db.transaction(work)();
            return () => resolve(result);
          } catch (error) {
            return () => reject(error as Error);
          }
        }),
      )();
      for (const report of reports) report();
    } catch (error) {
      for (const { reject } of all) reject(error as Error);
    }
  }

  return <Result>(work: () => Result) =>
    new Promise<Result>((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ work, resolve: resolve as (result: unknown) => void, reject });
    });
}
