import type { Store } from './store.ts';

export interface OpenStore {
  store: Store;
  /** A server may be away at first. Rejects when the store can never be used. */
  ready: Promise<void>;
  /**
   * Resolves with the reason once every write fails: a `ConfigError` if the file is damaged, removed or replaced (a
   * restart cannot help), a `LostLockError` if the work lock is lost.
   */
  failed: Promise<Error>;
  /** How long the last durable commit took, or the present one has taken until now; in milliseconds. */
  syncMs(): number;
  /** null: the file's lock keeps all other processes out. */
  lock: WorkLock | null;
  close(): Promise<void>;
}

/** Of the processes that share a database, one at a time works: it routes, sends and holds the gateway. */
export interface WorkLock {
  /** Waits however long it takes. From then on this process's writes are fenced by the lock. */
  acquire(): Promise<void>;
  tried: Promise<void>;
  /** Whether it was proved so recently that no other process can hold the lock. */
  isHeld(): boolean;
  lost: Promise<Error>;
  /** Frees the lock, so that another process works at once; to be called when the work has ended. */
  close(): Promise<void>;
}

export type StoreLog = Record<'info' | 'warn', (details: object, message: string) => void>;
