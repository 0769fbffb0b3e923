import type Database from 'better-sqlite3';

export interface Delivery {
  id: number;
  webhookId: string;
  projectId: string;
  txHash: string;
  blockNumber: number;
  blockTime: number | null;
  place: string;
  matched: string | null;
  removed: number;
  movedFrom: string | null;
  replay: number;
  body: string;
  attempts: number;
  /** How often it was sent again after a 200, on purpose. */
  repeats: number;
  dueAt: number;
  url: string;
  parallel: number;
}

export interface FailedDelivery extends Pick<Delivery, 'id' | 'txHash' | 'blockNumber' | 'attempts' | 'body'> {
  endedAt: number;
  error: string | null;
}

const RANKS = [0, 1, 2] as const;

export function createOutboxStore(db: Database.Database) {
  const due = db
    .prepare<[string, number, number, number], number>(
      `SELECT id FROM deliveries INDEXED BY deliveries_due
       WHERE state = 'pending' AND webhook_id = ? AND rank = ? AND due_at <= ? ORDER BY due_at DESC, id DESC LIMIT ?`,
    )
    .pluck();
  const full = db.prepare<[number], Delivery>(
    `SELECT deliveries.id, webhook_id AS webhookId, deliveries.project_id AS projectId, tx_hash AS txHash,
       block_number AS blockNumber, block_time AS blockTime, place, matched, removed, moved_from AS movedFrom, replay,
       body, attempts, repeats, due_at AS dueAt, webhooks.url, webhooks.parallel
     FROM deliveries JOIN webhooks ON webhooks.id = webhook_id WHERE deliveries.id = ?`,
  );
  const nextDueAt = db
    .prepare<[string], number | null>(
      "SELECT min(due_at) FROM deliveries INDEXED BY deliveries_due_at WHERE state = 'pending' AND webhook_id = ?",
    )
    .pluck();
  const dueWebhooks = db.prepare<[], { webhookId: string; dueAt: number }>(
    `SELECT webhook_id AS webhookId, min(due_at) AS dueAt FROM deliveries INDEXED BY deliveries_due_at
     WHERE state = 'pending' GROUP BY webhook_id`,
  );
  const countDue = db
    .prepare<[string, number], number>(
      "SELECT count(*) FROM deliveries WHERE state = 'pending' AND webhook_id = ? AND due_at <= ?",
    )
    .pluck();
  // Even without a 200 the event may have arrived, and its block may have left the chain during the attempt.
  const postpone = db.prepare(
    `UPDATE deliveries SET attempts = :attempts, repeats = :repeats, due_at = :dueAt, error = :error,
       state = CASE state WHEN 'dropped' THEN 'orphaned' ELSE state END WHERE id = :id`,
  );
  // A block that left the chain during the attempt: the event arrived anyway, and may be withdrawn.
  const deliver = db.prepare<[number, number, number]>(
    `UPDATE deliveries SET delivered_at = ?, ended_at = ?, error = NULL,
       state = CASE state WHEN 'pending' THEN 'delivered' WHEN 'dropped' THEN 'orphaned' ELSE state END WHERE id = ?`,
  );
  const fail = db.prepare<[number, string, number, number]>(
    "UPDATE deliveries SET state = 'failed', ended_at = ?, error = ?, attempts = ? WHERE id = ? AND state = 'pending'",
  );
  const hasten = db.prepare("UPDATE deliveries SET due_at = :dueAt WHERE state = 'pending' AND due_at > :dueAt");
  const newestId = db.prepare<[], number>('SELECT coalesce(max(id), 0) FROM deliveries').pluck();
  const giveUp = db.prepare<[number, string, number]>(
    `UPDATE deliveries SET state = 'failed', ended_at = ?, error = 'the receiver was silent for too long'
     WHERE webhook_id = ? AND id <= ? AND state = 'pending'`,
  );
  const failed = db.prepare<[string, number, number], FailedDelivery>(
    `SELECT id, tx_hash AS txHash, block_number AS blockNumber, attempts, ended_at AS endedAt, error, body
     FROM deliveries INDEXED BY deliveries_failed WHERE state = 'failed' AND webhook_id = ? AND id > ? ORDER BY id LIMIT ?`,
  );
  const retryFailed = db.prepare<{ webhookId: string; id: number | null }>(
    `UPDATE deliveries SET state = 'pending', attempts = 0, due_at = 0, ended_at = NULL
     WHERE state = 'failed' AND webhook_id = :webhookId AND (:id IS NULL OR id = :id)`,
  );

  return {
    dueWebhooks: () => dueWebhooks.all(),
    nextDueAt: (webhookId: string): number | undefined => nextDueAt.get(webhookId) ?? undefined,
    /** By rank and then what fell due last: after `skip` others, and none of `except`. */
    nextDue(webhookId: string, now: number, skip = 0, except: readonly number[] = []): Delivery | undefined {
      let toSkip = skip;
      for (const rank of RANKS) {
        const ids = due.all(webhookId, rank, now, toSkip + except.length + 1).filter((id) => !except.includes(id));
        if (ids.length > toSkip) return full.get(ids[toSkip]!);
        toSkip -= ids.length;
      }
      return undefined;
    },
    countDue: (webhookId: string, now: number): number => countDue.get(webhookId, now)!,
    postpone: (id: number, to: { attempts: number; repeats: number; dueAt: number; error: string | null }): void =>
      void postpone.run({ id, ...to }),
    deliver: (id: number, now: number): void => void deliver.run(now, now, id),
    fail: (id: number, now: number, error: string, attempts: number): void => void fail.run(now, error, attempts, id),
    /** Deliveries that are due earlier keep their time. */
    hasten: (dueAt: number): void => void hasten.run({ dueAt }),
    newestId: (): number => newestId.get()!,
    /** Up to an id; returns how many. */
    giveUp: (webhookId: string, id: number, now: number): number => giveUp.run(now, webhookId, id).changes,
    listFailed: (webhookId: string, after: number, limit: number) => failed.all(webhookId, after, limit),
    /** null: all of the webhook's. Returns how many. */
    retryFailed: (webhookId: string, ids: readonly number[] | null): number =>
      db.transaction(() =>
        (ids ?? [null]).reduce<number>((count, id) => count + retryFailed.run({ webhookId, id }).changes, 0),
      )(),
  };
}
