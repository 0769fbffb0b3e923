import type Database from 'better-sqlite3';
import type { TokenFacts } from '../../chain/token.ts';
import { type ChainStore, createChainStore } from './chain.ts';
import { type Commit, createCommit } from './commit.ts';
import { openDatabase } from './database.ts';
import { createDeliveryStore, type DeliveryStore } from './deliveries.ts';
import { createReplayStore, type ReplayStore } from './replays.ts';
import { createWebhookStore, type WebhookStore } from './webhooks.ts';

/** What the notification service keeps, in one SQLite file. Every method that changes something is one transaction. */
export interface NotificationStore {
  /** Names this file, so that delivery ids of different files differ. */
  instance: string;
  webhooks: WebhookStore;
  chain: ChainStore;
  deliveries: DeliveryStore;
  replays: ReplayStore;
  tokens: TokenStore;
  /**
   * Runs `work` in one transaction with the other calls of the same turn of the event loop, so that they wait for the
   * disk once; work that throws undoes only its own changes. Resolves with its result once it is on disk.
   *
   * @throws what `work` throws, or when the transaction cannot be written.
   */
  commit: Commit;
  /** Gives freed pages back to the disk, a few megabytes at a time. */
  shrink(): void;
  close(): void;
}

/** Names, symbols and decimals of tokens. */
export interface TokenStore {
  find(address: string): (TokenFacts & { askedAt: number }) | undefined;
  save(address: string, facts: TokenFacts, now: number): void;
}

const SHRINK_PAGES = 1000;

/** Opens the store in a folder. @throws as {@link openDatabase}. */
export function openStore(dir: string): NotificationStore {
  const db = openDatabase(dir);
  const deliveries = createDeliveryStore(db);
  return {
    instance: db.prepare<[], { id: string }>('SELECT id FROM instance').get()!.id,
    webhooks: createWebhookStore(db),
    chain: createChainStore(db, deliveries),
    deliveries,
    replays: createReplayStore(db, deliveries),
    tokens: createTokenStore(db),
    commit: createCommit(db),
    shrink() {
      db.pragma(`incremental_vacuum(${SHRINK_PAGES})`);
    },
    close() {
      db.close();
    },
  };
}

function createTokenStore(db: Database.Database): TokenStore {
  const find = db.prepare<[string], TokenFacts & { askedAt: number }>(
    'SELECT name, symbol, decimals, asked_at AS askedAt FROM tokens WHERE address = ?',
  );
  const save = db.prepare('INSERT OR REPLACE INTO tokens VALUES (:address, :name, :symbol, :decimals, :now)');
  return {
    find: (address) => find.get(address),
    save(address, facts, now) {
      save.run({ address, ...facts, now });
    },
  };
}
