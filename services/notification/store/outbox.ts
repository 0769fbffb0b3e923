import type Database from 'better-sqlite3';

/** A stored delivery that can be sent. */
export interface Delivery {
  id: number;
  webhookId: string;
  projectId: string;
  txHash: string;
  blockNumber: number;
  blockTime: number | null;
  place: string | null;
  matched: string | null;
  removed: number;
  movedFrom: string | null;
  replay: number;
  body: string;
  attempts: number;
  /** How often it was sent again after a 200, on purpose. */
  repeats: number;
  dueAt: number;
  /** The webhook's receiver, as it is now. */
  url: string;
  /** How many deliveries of the webhook may be under way at the same time. */
  parallel: number;
}

/** A delivery that was given up. */
export interface FailedDelivery {
  id: number;
  txHash: string;
  blockNumber: number;
  attempts: number;
  endedAt: number;
  error: string | null;
  body: string;
}

/** Deliveries from their first attempt to their end. */
export interface OutboxStore {
  /** When each webhook's next delivery is due. */
  dueWebhooks(): { webhookId: string; dueAt: number }[];
  nextDueAt(webhookId: string): number | undefined;
  /** The delivery to be sent next, by rank and then what fell due last: after `skip` others, and none of `except`. */
  nextDue(
    webhookId: string,
    now: number,
    options?: { skip?: number; except?: readonly number[] },
  ): Delivery | undefined;
  countDue(webhookId: string, now: number): number;
  postpone(id: number, to: { attempts: number; repeats: number; dueAt: number; error?: string | null }): void;
  deliver(id: number, now: number): void;
  fail(id: number, now: number, error: string | null, attempts: number): void;
  /** Makes every pending delivery due at this time, unless it is due earlier. */
  hasten(dueAt: number): void;
  newestId(): number;
  /** Gives up the deliveries of a webhook up to an id; returns how many. */
  giveUp(webhookId: string, id: number, now: number): number;
  listFailed(webhookId: string, page: { after: number; limit: number }): FailedDelivery[];
  /** Makes given-up deliveries pending again; null: all of the webhook's. Returns how many. */
  retryFailed(webhookId: string, ids: readonly number[] | null): number;
}

const COLUMNS = `deliveries.id, webhook_id AS webhookId, deliveries.project_id AS projectId, tx_hash AS txHash,
  block_number AS blockNumber, block_time AS blockTime, place, matched, removed, moved_from AS movedFrom, replay, body,
  attempts, repeats, due_at AS dueAt, webhooks.url, webhooks.parallel`;

/** The ranks of deliveries, see `NewDelivery`. */
const RANKS = [0, 1, 2] as const;

/** Creates the part of the store that sending works on. */
export function createOutboxStore(db: Database.Database): OutboxStore {
  const due = db.prepare<[string, number, number, number], { id: number }>(
    `SELECT id FROM deliveries INDEXED BY deliveries_due
     WHERE state = 'pending' AND webhook_id = ? AND rank = ? AND due_at <= ? ORDER BY due_at DESC, id DESC LIMIT ?`,
  );
  const full = db.prepare<[number], Delivery>(
    `SELECT ${COLUMNS} FROM deliveries JOIN webhooks ON webhooks.id = webhook_id WHERE deliveries.id = ?`,
  );
  const nextDueAt = db.prepare<[string], { dueAt: number | null }>(
    "SELECT min(due_at) AS dueAt FROM deliveries INDEXED BY deliveries_due_at WHERE state = 'pending' AND webhook_id = ?",
  );
  // Even without a 200 the event may have arrived, and its block may have left the chain during the attempt.
  const postpone = db.prepare<[number, number, number, string | null, number]>(
    `UPDATE deliveries SET attempts = ?, repeats = ?, due_at = ?, error = ?,
       state = CASE state WHEN 'dropped' THEN 'orphaned' ELSE state END WHERE id = ?`,
  );
  // A block that left the chain during the attempt: the event arrived anyway, and may be withdrawn.
  const deliver = db.prepare<[number, number, number]>(
    `UPDATE deliveries SET delivered_at = ?, ended_at = ?, error = NULL,
       state = CASE state WHEN 'pending' THEN 'delivered' WHEN 'dropped' THEN 'orphaned' ELSE state END WHERE id = ?`,
  );

  return {
    dueWebhooks: () =>
      db
        .prepare<[], { webhookId: string; dueAt: number }>(
          `SELECT webhook_id AS webhookId, min(due_at) AS dueAt FROM deliveries INDEXED BY deliveries_due_at
           WHERE state = 'pending' GROUP BY webhook_id`,
        )
        .all(),
    nextDueAt: (webhookId) => nextDueAt.get(webhookId)?.dueAt ?? undefined,
    nextDue(webhookId, now, { skip = 0, except = [] } = {}) {
      let left = skip;
      for (const rank of RANKS) {
        const rows = due.all(webhookId, rank, now, left + except.length + 1).filter(({ id }) => !except.includes(id));
        if (rows.length > left) return full.get(rows[left]!.id);
        left -= rows.length;
      }
      return undefined;
    },
    countDue: (webhookId, now) =>
      db
        .prepare<[string, number], { count: number }>(
          "SELECT count(*) AS count FROM deliveries WHERE state = 'pending' AND webhook_id = ? AND due_at <= ?",
        )
        .get(webhookId, now)!.count,
    postpone(id, { attempts, repeats, dueAt, error = null }) {
      postpone.run(attempts, repeats, dueAt, error, id);
    },
    deliver: (id, now) => void deliver.run(now, now, id),
    fail(id, now, error, attempts) {
      db.prepare(
        "UPDATE deliveries SET state = 'failed', ended_at = ?, error = ?, attempts = ? WHERE id = ? AND state = 'pending'",
      ).run(now, error, attempts, id);
    },
    hasten(dueAt) {
      db.prepare("UPDATE deliveries SET due_at = :dueAt WHERE state = 'pending' AND due_at > :dueAt").run({ dueAt });
    },
    newestId: () => db.prepare<[], { id: number | null }>('SELECT max(id) AS id FROM deliveries').get()!.id ?? 0,
    giveUp: (webhookId, id, now) =>
      db
        .prepare(
          `UPDATE deliveries SET state = 'failed', ended_at = ?, error = 'the receiver was silent for too long'
           WHERE webhook_id = ? AND id <= ? AND state = 'pending'`,
        )
        .run(now, webhookId, id).changes,
    listFailed: (webhookId, { after, limit }) =>
      db
        .prepare<[string, number, number], FailedDelivery>(
          `SELECT id, tx_hash AS txHash, block_number AS blockNumber, attempts, ended_at AS endedAt, error, body
           FROM deliveries INDEXED BY deliveries_failed
           WHERE state = 'failed' AND webhook_id = ? AND id > ? ORDER BY id LIMIT ?`,
        )
        .all(webhookId, after, limit),
    retryFailed: (webhookId, ids) =>
      db.transaction(() => {
        const set = `UPDATE deliveries SET state = 'pending', attempts = 0, due_at = 0, ended_at = NULL
          WHERE state = 'failed' AND webhook_id = ?`;
        if (ids === null) return db.prepare(set).run(webhookId).changes;
        const one = db.prepare(`${set} AND id = ?`);
        return ids.reduce((count, id) => count + one.run(webhookId, id).changes, 0);
      })(),
  };
}
