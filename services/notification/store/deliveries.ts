import type Database from 'better-sqlite3';
import { createNewDeliveryStore, type NewDeliveryStore, SLICE } from './new-deliveries.ts';
import { createOutboxStore, type OutboxStore } from './outbox.ts';
import { createWaitingStore, type WaitingStore } from './waiting.ts';
import { createWithdrawalStore, type WithdrawalStore } from './withdrawals.ts';

/**
 * Deliveries, from their block to their end.
 *
 * States: `waiting` (for confirmations or a token's name), `pending`, `delivered` and `failed`; for blocks that left the
 * chain `dropped` (never sent), `orphaned` (sent), `withdrawn` and `moved`.
 */
export interface DeliveryStore extends NewDeliveryStore, WaitingStore, OutboxStore, WithdrawalStore {
  /** Forgets finished deliveries of blocks below a height, some at a time. Call in a transaction. */
  prune(below: number): void;
  /** Forgets deliveries that failed before a time, some at a time. Call in a transaction. */
  pruneFailed(before: number): void;
  /** How many wait or are being sent. */
  countPending(): number;
  /** How many there are, by webhook and state. */
  countByState(): { webhookId: string; state: string; count: number }[];
}

/** Creates the part of the store that keeps deliveries. */
export function createDeliveryStore(db: Database.Database): DeliveryStore {
  const pruneDone = db.prepare<[number]>(
    `DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries INDEXED BY deliveries_done
     WHERE state IN ('delivered', 'dropped', 'orphaned', 'withdrawn', 'moved') AND block_number < ? LIMIT ${2 * SLICE})`,
  );
  const pruneFailed = db.prepare<[number]>(
    `DELETE FROM deliveries WHERE id IN
     (SELECT id FROM deliveries WHERE state = 'failed' AND ended_at < ? LIMIT ${2 * SLICE})`,
  );
  return {
    ...createNewDeliveryStore(db),
    ...createWaitingStore(db),
    ...createOutboxStore(db),
    ...createWithdrawalStore(db),
    prune: (below) => void pruneDone.run(below),
    pruneFailed: (before) => void pruneFailed.run(before),
    countPending: () =>
      db
        .prepare<[], { count: number }>(
          `SELECT (SELECT count(*) FROM deliveries WHERE state = 'waiting') +
             (SELECT count(*) FROM deliveries WHERE state = 'pending') AS count`,
        )
        .get()!.count,
    countByState: () =>
      db
        .prepare<[], { webhookId: string; state: string; count: number }>(
          'SELECT webhook_id AS webhookId, state, count(*) AS count FROM deliveries GROUP BY webhook_id, state',
        )
        .all(),
  };
}
