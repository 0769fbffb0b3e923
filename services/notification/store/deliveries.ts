import type Database from 'better-sqlite3';
import { createOutboxStore, type Delivery, type OutboxStore } from './outbox.ts';

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
  /** null while the token's facts are unknown. */
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

/**
 * Deliveries, from their block to their end.
 *
 * States: `waiting` (for confirmations or a token's name), `pending`, `delivered` and `failed`; for blocks that left the
 * chain `dropped` (never sent), `orphaned` (sent), `withdrawn` and `moved`.
 */
export interface DeliveryStore extends OutboxStore {
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
  /** How many wait or are being sent. */
  countPending(): number;
  /** How many there are, by webhook and state. */
  countByState(): { webhookId: string; state: string; count: number }[];
}

const INSERT = `INSERT INTO deliveries
  (webhook_id, project_id, tx_hash, block_number, block_hash, block_time, event_key, transfer_key, place, matched, replay,
   moved_from, state, confirm_at, token, draft, body, turn, due_at)
  VALUES (:webhookId, :projectId, :txHash, :blockNumber, :blockHash, :blockTime, :eventKey, :transferKey, :place, :matched,
   :replay, :movedFrom, :state, :confirmAt, :token, :draft, :body, :turn, :dueAt)`;

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
    ...createOutboxStore(db),
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
