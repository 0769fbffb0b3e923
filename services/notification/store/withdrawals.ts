import type Database from 'better-sqlite3';

/** Deliveries of blocks that left the chain. */
export interface WithdrawalStore {
  /** Stops the deliveries of blocks that left the chain. Call in a transaction. */
  orphan(blockHash: string): void;
  /** Creates the follow-ups for delivered events of orphaned blocks below a height; returns how many. */
  withdraw(below: number, now: number): number;
}

/** Creates the part of the store that stops or withdraws deliveries of blocks that left the chain. */
export function createWithdrawalStore(db: Database.Database): WithdrawalStore {
  return {
    orphan(blockHash) {
      // What may have arrived although no 200 came counts as delivered: it may need to be withdrawn.
      db.prepare(
        `UPDATE deliveries SET state = CASE WHEN state = 'delivered' OR attempts > 0 THEN 'orphaned' ELSE 'dropped' END
         WHERE block_hash = ? AND replay = 0 AND removed = 0 AND state IN ('waiting', 'pending', 'delivered', 'failed')`,
      ).run(blockHash);
    },
    withdraw: (below, now) =>
      db.transaction(() => {
        const rows = db
          .prepare<[number], { id: number }>(
            `SELECT deliveries.id FROM deliveries JOIN webhooks ON webhooks.id = webhook_id
             WHERE state = 'orphaned' AND block_number < ? AND withdrawals = 1 AND body IS NOT NULL`,
          )
          .all(below);
        const setWithdrawn = db.prepare<[number]>("UPDATE deliveries SET state = 'withdrawn' WHERE id = ?");
        for (const { id } of rows) {
          db.prepare(
            `INSERT INTO deliveries (webhook_id, project_id, tx_hash, block_number, block_hash, block_time, event_key,
               transfer_key, place, matched, removed, state, body, rank, due_at)
             SELECT webhook_id, project_id, tx_hash, block_number, block_hash, block_time, event_key, '', place, matched, 1,
               'pending', substr(body, 1, length(body) - 1) || ',"removed":true}', 0, ? FROM deliveries WHERE id = ?
             ON CONFLICT DO UPDATE SET state = 'pending', due_at = excluded.due_at, attempts = 0`,
          ).run(now, id);
          setWithdrawn.run(id);
        }
        return rows.length;
      })(),
  };
}
