import type Database from 'better-sqlite3';

/** Deliveries of blocks that left the chain. */
export interface WithdrawalStore {
  /** Stops the deliveries of blocks that left the chain. Call in a transaction. */
  orphan(blockHash: string): void;
  /**
   * Creates the follow-ups for delivered events of orphaned blocks below a height; `render` makes a follow-up's body from
   * the event's. Returns how many.
   */
  withdraw(below: number, now: number, render: (body: string) => string): number;
}

/** Creates the part of the store that stops or withdraws deliveries of blocks that left the chain. */
export function createWithdrawalStore(db: Database.Database): WithdrawalStore {
  const orphaned = db.prepare<[number], { id: number; body: string }>(
    `SELECT deliveries.id, body FROM deliveries JOIN webhooks ON webhooks.id = webhook_id
     WHERE state = 'orphaned' AND block_number < ? AND withdrawals = 1 AND body IS NOT NULL`,
  );
  const addFollowUp = db.prepare<{ id: number; body: string; now: number }>(
    `INSERT INTO deliveries (webhook_id, project_id, tx_hash, block_number, block_hash, block_time, event_key,
       transfer_key, place, matched, removed, state, body, rank, due_at)
     SELECT webhook_id, project_id, tx_hash, block_number, block_hash, block_time, event_key, '', place, matched, 1,
       'pending', :body, 0, :now FROM deliveries WHERE id = :id
     ON CONFLICT DO UPDATE SET state = 'pending', due_at = excluded.due_at, attempts = 0`,
  );
  const setWithdrawn = db.prepare<[number]>("UPDATE deliveries SET state = 'withdrawn' WHERE id = ?");

  return {
    orphan(blockHash) {
      // What may have arrived although no 200 came counts as delivered: it may need to be withdrawn.
      db.prepare(
        `UPDATE deliveries SET state = CASE WHEN state = 'delivered' OR attempts > 0 THEN 'orphaned' ELSE 'dropped' END
         WHERE block_hash = ? AND replay = 0 AND removed = 0 AND state IN ('waiting', 'pending', 'delivered', 'failed')`,
      ).run(blockHash);
    },
    withdraw: (below, now, render) =>
      db.transaction(() => {
        const events = orphaned.all(below);
        for (const { id, body } of events) {
          addFollowUp.run({ id, body: render(body), now });
          setWithdrawn.run(id);
        }
        return events.length;
      })(),
  };
}
