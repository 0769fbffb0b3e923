import type Database from 'better-sqlite3';

/** A delivery before it is stored. */
export interface NewDelivery {
  webhookId: string;
  projectId: string;
  txHash: string;
  blockNumber: number;
  blockHash: string;
  /** Seconds since 1970. */
  blockTime: number | null;
  /** Which transfer and which watched role, unique within a block. */
  eventKey: string;
  /** The same for the same transfer in another block. */
  transferKey: string;
  /** Where in its transaction; null for what older versions stored. */
  place: string | null;
  /** The watched address. */
  matched: string | null;
  /** Height that the chain must reach first; -1 the safe block, -2 the finalized one; null: sent at once. */
  confirmAt: number | null;
  /** null while the token has not said its name. */
  body: string | null;
  /** What the body is made of, while it is null. */
  draft: string | null;
  token: string | null;
  /** 0 to 2: how late it comes among the events of one webhook. A transaction's first events come first. */
  turn: number;
  /** When it may be sent, in milliseconds since 1970. */
  dueAt: number;
  /** Above 0: sent again on request, by this replay. */
  replay?: number;
}

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

/** A delivery that was stored, as reports name it. */
export type KeptDelivery = NewDelivery & { id: number };

/** A delivery whose body is complete. */
export type CompletedDelivery = Pick<Delivery, 'id' | 'webhookId' | 'projectId' | 'txHash' | 'blockNumber' | 'body'>;

/** Which heights the chain has reached; null where unknown. */
export interface Heights {
  head: number;
  safe: number | null;
  finalized: number | null;
}

/** Deliveries. Their states: `waiting` (for confirmations or a name), `pending`, `delivered`, `failed`, and for blocks that left the chain `dropped`, `orphaned`, `withdrawn` or `moved`. */
export interface DeliveryStore {
  /** Stores deliveries of existing webhooks, each event once; returns those that are new. Call in a transaction. */
  keep(deliveries: readonly NewDelivery[]): KeptDelivery[];
  /** Stops the deliveries of blocks that left the chain. Call in a transaction. */
  orphan(blockHash: string): void;
  /** Creates the follow-ups for delivered events of orphaned blocks below a height; returns how many. */
  withdraw(below: number, now: number): number;
  /** Forgets finished deliveries of blocks below a height. */
  prune(below: number, failedBefore: number): void;
  /** Lets the confirmed and named deliveries be sent; returns the webhooks concerned. */
  release(heights: Heights, now: number): string[];
  /** Whether a delivery waits for the safe (-1) or finalized (-2) block. */
  waitsFor(tag: -1 | -2): boolean;
  /** The tokens that deliveries wait for. */
  unnamedTokens(): string[];
  /** Completes the deliveries of a token; `render` returns null for those that their webhook does not want. */
  name(token: string, render: (draft: string) => string | null): CompletedDelivery[];
  /** When each webhook's next delivery is due. */
  dueWebhooks(): { webhookId: string; dueAt: number }[];
  nextDueAt(webhookId: string): number | undefined;
  /** The delivery to be sent next: by turn, then what fell due last. Skips the given ids. */
  nextDue(webhookId: string, now: number, options?: { skip?: number; under?: readonly number[] }): Delivery | undefined;
  countDue(webhookId: string, now: number): number;
  postpone(id: number, to: { attempts: number; repeats: number; dueAt: number; error?: string | null }): void;
  deliver(id: number, now: number): void;
  fail(id: number, now: number, error: string | null, attempts: number): void;
  /** Makes every pending delivery due by then. */
  hasten(dueAt: number): void;
  newestId(): number;
  /** Gives up the deliveries of a webhook up to an id; returns how many. */
  giveUp(webhookId: string, id: number, now: number): number;
  listFailed(webhookId: string, page: { after: number; limit: number }): FailedDelivery[];
  /** Sends given-up deliveries again; without ids all of the webhook's. Returns how many. */
  retryFailed(webhookId: string, ids: readonly number[] | null): number;
  /** How many wait or are being sent. */
  countPending(): number;
  /** How many there are, by webhook and state. */
  countByState(): { webhookId: string; state: string; count: number }[];
}

const COLUMNS = `deliveries.id, webhook_id AS webhookId, deliveries.project_id AS projectId, tx_hash AS txHash,
  block_number AS blockNumber, block_time AS blockTime, place, matched, removed, moved_from AS movedFrom, replay, body,
  attempts, repeats, due_at AS dueAt, webhooks.url, webhooks.parallel`;

const INSERT = `INSERT INTO deliveries
  (webhook_id, project_id, tx_hash, block_number, block_hash, block_time, event_key, transfer_key, place, matched, replay,
   moved_from, state, confirm_at, token, draft, body, turn, due_at)
  VALUES (:webhookId, :projectId, :txHash, :blockNumber, :blockHash, :blockTime, :eventKey, :transferKey, :place, :matched,
   :replay, :movedFrom, :state, :confirmAt, :token, :draft, :body, :turn, :dueAt)`;

/** Turns of {@link NewDelivery.turn}. */
const TURNS = [0, 1, 2] as const;

interface Existing {
  id: number;
  state: string;
  deliveredAt: number | null;
}

/** Creates the part of the store that keeps deliveries. */
export function createDeliveryStore(db: Database.Database): DeliveryStore {
  const hasWebhook = db.prepare<[string]>('SELECT 1 FROM webhooks WHERE id = ?');
  const insert = db.prepare(INSERT);
  const existing = db.prepare<[string, string, string, number], Existing>(
    `SELECT id, state, delivered_at AS deliveredAt FROM deliveries
     WHERE webhook_id = ? AND block_hash = ? AND event_key = ? AND replay = ? AND removed = 0`,
  );
  const orphanOf = db.prepare<[string, string, string], { id: number; blockHash: string }>(
    `SELECT id, block_hash AS blockHash FROM deliveries
     WHERE state = 'orphaned' AND webhook_id = ? AND tx_hash = ? AND transfer_key = ? ORDER BY id LIMIT 1`,
  );
  const setState = db.prepare<[string, number]>('UPDATE deliveries SET state = ? WHERE id = ?');
  const remove = db.prepare<[number]>('DELETE FROM deliveries WHERE id = ?');
  const unsentFollowUp = db.prepare<[string, string, string]>(
    `DELETE FROM deliveries WHERE webhook_id = ? AND block_hash = ? AND event_key = ? AND removed = 1`,
  );
  const due = db.prepare<[string, number, number, number], { id: number }>(
    `SELECT id FROM deliveries INDEXED BY deliveries_due
     WHERE state = 'pending' AND webhook_id = ? AND turn = ? AND due_at <= ? ORDER BY due_at DESC, id DESC LIMIT ?`,
  );
  const full = db.prepare<[number], Delivery>(
    `SELECT ${COLUMNS} FROM deliveries JOIN webhooks ON webhooks.id = webhook_id WHERE deliveries.id = ?`,
  );

  const add = (delivery: NewDelivery, isMove: boolean): KeptDelivery => {
    const { webhookId, txHash, transferKey, replay = 0 } = delivery;
    const moved = isMove && transferKey !== '' ? orphanOf.get(webhookId, txHash, transferKey) : undefined;
    if (moved !== undefined) setState.run('moved', moved.id);
    const state = delivery.body === null || delivery.confirmAt !== null ? 'waiting' : 'pending';
    const row = { ...delivery, replay, movedFrom: moved?.blockHash ?? null, state };
    return { ...delivery, id: Number(insert.run(row).lastInsertRowid) };
  };

  /** A block that comes back into the chain: what was sent and not withdrawn needs nothing more. */
  const keepOne = (delivery: NewDelivery): KeptDelivery | undefined => {
    const { webhookId, blockHash, eventKey, replay = 0 } = delivery;
    if (hasWebhook.get(webhookId) === undefined) return undefined;
    const known = existing.get(webhookId, blockHash, eventKey, replay);
    if (known === undefined) return add(delivery, replay === 0);
    switch (known.state) {
      case 'orphaned':
        setState.run(known.deliveredAt === null ? 'pending' : 'delivered', known.id);
        return undefined;
      case 'dropped':
      case 'withdrawn':
      case 'moved':
        unsentFollowUp.run(webhookId, blockHash, eventKey);
        remove.run(known.id);
        return add(delivery, true);
      default:
        return undefined;
    }
  };

  return {
    keep: (deliveries) =>
      deliveries.flatMap((delivery) => {
        const kept = keepOne(delivery);
        return kept === undefined ? [] : [kept];
      }),
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
        for (const { id } of rows) {
          db.prepare(
            `INSERT INTO deliveries (webhook_id, project_id, tx_hash, block_number, block_hash, block_time, event_key,
               transfer_key, place, matched, removed, state, body, turn, due_at)
             SELECT webhook_id, project_id, tx_hash, block_number, block_hash, block_time, event_key, '', place, matched, 1,
               'pending', substr(body, 1, length(body) - 1) || ',"removed":true}', 0, ? FROM deliveries WHERE id = ?
             ON CONFLICT DO UPDATE SET state = 'pending', due_at = excluded.due_at, attempts = 0`,
          ).run(now, id);
          setState.run('withdrawn', id);
        }
        return rows.length;
      })(),
    prune(below, failedBefore) {
      db.prepare(
        `DELETE FROM deliveries INDEXED BY deliveries_done
         WHERE state IN ('delivered', 'dropped', 'orphaned', 'withdrawn', 'moved') AND block_number < ?`,
      ).run(below);
      db.prepare("DELETE FROM deliveries WHERE state = 'failed' AND ended_at < ?").run(failedBefore);
    },
    release({ head, safe, finalized }, now) {
      const rows = db
        .prepare<Record<string, number>, { webhookId: string }>(
          `UPDATE deliveries SET state = 'pending', due_at = max(due_at, :now)
           WHERE state = 'waiting' AND body IS NOT NULL AND (confirm_at IS NULL OR confirm_at BETWEEN 0 AND :head
             OR (confirm_at = -1 AND block_number <= :safe) OR (confirm_at = -2 AND block_number <= :finalized))
           RETURNING webhook_id AS webhookId`,
        )
        .all({ head, safe: safe ?? -1, finalized: finalized ?? -1, now });
      return [...new Set(rows.map(({ webhookId }) => webhookId))];
    },
    waitsFor: (tag) =>
      db.prepare<[number]>("SELECT 1 FROM deliveries WHERE state = 'waiting' AND confirm_at = ? LIMIT 1").get(tag) !==
      undefined,
    unnamedTokens: () =>
      db
        .prepare<[], { token: string }>(
          `SELECT DISTINCT token FROM deliveries INDEXED BY deliveries_unnamed
           WHERE state = 'waiting' AND body IS NULL AND token IS NOT NULL`,
        )
        .all()
        .map(({ token }) => token),
    name: (token, render) =>
      db.transaction(() => {
        const rows = db
          .prepare<[string], CompletedDelivery & { draft: string }>(
            `SELECT id, webhook_id AS webhookId, project_id AS projectId, tx_hash AS txHash, block_number AS blockNumber, draft
             FROM deliveries WHERE state = 'waiting' AND body IS NULL AND token = ?`,
          )
          .all(token);
        const complete = db.prepare<[string, number]>('UPDATE deliveries SET body = ?, draft = NULL WHERE id = ?');
        return rows.flatMap(({ draft, ...row }) => {
          const body = render(draft);
          if (body === null) {
            remove.run(row.id);
            return [];
          }
          complete.run(body, row.id);
          return [{ ...row, body }];
        });
      })(),
    dueWebhooks: () =>
      db
        .prepare<[], { webhookId: string; dueAt: number }>(
          `SELECT webhook_id AS webhookId, min(due_at) AS dueAt FROM deliveries INDEXED BY deliveries_due_at
           WHERE state = 'pending' GROUP BY webhook_id`,
        )
        .all(),
    nextDueAt: (webhookId) =>
      db
        .prepare<[string], { dueAt: number | null }>(
          "SELECT min(due_at) AS dueAt FROM deliveries INDEXED BY deliveries_due_at WHERE state = 'pending' AND webhook_id = ?",
        )
        .get(webhookId)?.dueAt ?? undefined,
    nextDue(webhookId, now, { skip = 0, under = [] } = {}) {
      let left = skip;
      for (const turn of TURNS) {
        const rows = due.all(webhookId, turn, now, left + under.length + 1).filter(({ id }) => !under.includes(id));
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
      // Even without a 200 the event may have arrived, and its block may have left the chain during the attempt.
      db.prepare(
        `UPDATE deliveries SET attempts = ?, repeats = ?, due_at = ?, error = ?,
           state = CASE state WHEN 'dropped' THEN 'orphaned' ELSE state END WHERE id = ?`,
      ).run(attempts, repeats, dueAt, error, id);
    },
    deliver(id, now) {
      // A block that left the chain during the attempt: the event arrived all the same, and may be withdrawn.
      db.prepare(
        `UPDATE deliveries SET delivered_at = ?, ended_at = ?, error = NULL,
           state = CASE state WHEN 'pending' THEN 'delivered' WHEN 'dropped' THEN 'orphaned' ELSE state END WHERE id = ?`,
      ).run(now, now, id);
    },
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
