import type { Store } from './store.ts';

/** An open database. */
export interface OpenStore {
  store: Store;
  /** Checks the database; returns why it can no longer be used and what to do, or null while it can. */
  check(): Promise<string | null>;
  /** How long the last commit took, or the present one has taken until now; in milliseconds. */
  syncMs(): number;
  close(): Promise<void>;
}

/** Callbacks of the database. After `onLost` or `onUnusable`, every call fails. */
export interface StoreListener {
  /** The connection ended without being closed. */
  onLost?(error: Error): void;
  /** The database is damaged, or was removed or replaced; the message says what to do. */
  onUnusable?(error: Error): void;
  /** Checking a large database for damage, in the background, failed: damage may be unnoticed. */
  onUnchecked?(error: Error): void;
  /** A migration made progress. */
  onProgress?(details: object, message: string): void;
}
