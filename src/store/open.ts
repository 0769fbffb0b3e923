import type { Store } from './store.ts';

export interface OpenStore {
  store: Store;
  /** Resolves once it can be used: a server may be away at first. Rejects when it never can. */
  ready: Promise<void>;
  /**
   * Resolves with the reason once this process can no longer use it: the file is damaged, or was removed or replaced (a
   * `ConfigError`: a restart cannot help), its thread ended, or the lock of the working process is lost
   * (`LostLockError`). Every write fails from then on.
   */
  failed: Promise<Error>;
  /** How long the last durable commit took, or the present one has taken until now; in milliseconds. */
  syncMs(): number;
  /** The lock of the one process that works; null: the file's lock keeps all other processes out. */
  lock: WorkLock | null;
  close(): Promise<void>;
}

/** Of the processes that share a database, one at a time works: it routes, sends and holds the gateway. */
export interface WorkLock {
  /** Resolves once this process holds the lock, however long that takes. From then on its writes are fenced by it. */
  acquire(): Promise<void>;
  tried: Promise<void>;
  /** Whether it was proved so recently that no other process can hold the lock. */
  isHeld(): boolean;
  lost: Promise<Error>;
  /** Frees the lock, so that another process works at once; to be called when the work has ended. */
  close(): Promise<void>;
}

export type StoreLog = Record<'info' | 'warn', (details: object, message: string) => void>;
