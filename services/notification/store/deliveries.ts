import { setImmediate as nextTurn } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import type { BlockTag } from '../types.ts';
import { createOutboxStore, type Delivery } from './outbox.ts';

export interface NewDelivery {
  webhookId: string;
  projectId: string;
  txHash: string;
  blockNumber: number;
  blockHash: string;
  /** Seconds since 1970. */
  blockTime: number | null;
  /** Unique within a block. */
  eventKey: string;
  /** Stays the same for a transfer in another block. */
  transferKey: string;
  place: string;
  /** The watched address. */
  matched: string | null;
  /** Height that the chain must reach first, if any. */
  confirmAt: number | null;
  /** Tag that must reach its block first, if any. */
  confirmTag: BlockTag | null;
  /** null while the token's facts are unknown. */
  body: string | null;
  /** The data for the body, while that is null. */
  draft: string | null;
  token: string | null;
  /** 0 to 2: a webhook's first events of a transaction come first. */
  rank: number;
  /** In milliseconds since 1970. */
  dueAt: number;
  /** Above 0: sent again on request, by this replay. */
  replay?: number;
}

export type KeptDelivery = NewDelivery & { id: number; state: 'waiting' | 'pending' };

export type CompletedDelivery = Pick<Delivery, 'id' | 'webhookId' | 'projectId' | 'txHash' | 'blockNumber' | 'body'>;

/** null where unknown. */
type Heights = { head: number } & Record<BlockTag, number | null>;

/** Deliveries per transaction: nothing else runs meanwhile. */
export const SLICE = 500;

/**
 * States: `waiting` (for confirmations or a token's name), `pending`, `delivered` and `failed`;
 * for blocks that left the chain `dropped` (never sent), `orphaned` (sent), `withdrawn` and `moved`.
 */
export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

export function createDeliveryStore(db: Database.Database) {
  const pruneDone = db.prepare<[number]>(
    `DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries INDEXED BY deliveries_done
     WHERE state IN ('delivered', 'dropped', 'orphaned', 'withdrawn', 'moved') AND block_number < ? LIMIT ${2 * SLICE})`,
  );
  const pruneFailed = db.prepare<[number]>(
    `DELETE FROM deliveries WHERE id IN
     (SELECT id FROM deliveries WHERE state = 'failed' AND ended_at < ? LIMIT ${2 * SLICE})`,
  );
  const pending = db
    .prepare<[], number>(
      `SELECT (SELECT count(*) FROM deliveries WHERE state = 'waiting') +
         (SELECT count(*) FROM deliveries WHERE state = 'pending')`,
    )
    .pluck();
  const byState = db.prepare<[], { webhookId: string; state: string; count: number }>(
    'SELECT webhook_id AS webhookId, state, count(*) AS count FROM deliveries GROUP BY webhook_id, state',
  );
  return {
    ...createIntake(db),
    ...createWaiting(db),
    ...createOutboxStore(db),
    ...createWithdrawals(db),
    /** Some at a time. Call in a transaction. */
    prune: (below: number): void => void pruneDone.run(below),
    /** Some at a time. Call in a transaction. */
    pruneFailed: (before: number): void => void pruneFailed.run(before),
    countPending: (): number => pending.get()!,
    countByState: () => byState.all(),
  };
}

function createIntake(db: Database.Database) {
  const hasWebhook = db.prepare<[string]>('SELECT 1 FROM webhooks WHERE id = ?');
  const insert = db.prepare(
    `INSERT INTO deliveries
       (webhook_id, project_id, tx_hash, block_number, block_hash, block_time, event_key, transfer_key, place, matched,
        replay, moved_from, state, confirm_at, confirm_tag, token, draft, body, rank, due_at)
     VALUES (:webhookId, :projectId, :txHash, :blockNumber, :blockHash, :blockTime, :eventKey, :transferKey, :place,
        :matched, :replay, :movedFrom, :state, :confirmAt, :confirmTag, :token, :draft, :body, :rank, :dueAt)`,
  );
  const existing = db.prepare<
    [string, string, string, number],
    { id: number; state: string; deliveredAt: number | null }
  >(
    `SELECT id, state, delivered_at AS deliveredAt FROM deliveries
     WHERE webhook_id = ? AND block_hash = ? AND event_key = ? AND replay = ? AND removed = 0`,
  );
  const orphanOf = db.prepare<[string, string, string], { id: number; blockHash: string }>(
    `SELECT id, block_hash AS blockHash FROM deliveries
     WHERE state = 'orphaned' AND webhook_id = ? AND tx_hash = ? AND transfer_key = ? ORDER BY id LIMIT 1`,
  );
  const setState = db.prepare<[string, number]>('UPDATE deliveries SET state = ? WHERE id = ?');
  const remove = db.prepare<[number]>('DELETE FROM deliveries WHERE id = ?');
  const removeFollowUp = db.prepare<[string, string, string]>(
    'DELETE FROM deliveries WHERE webhook_id = ? AND block_hash = ? AND event_key = ? AND removed = 1',
  );

  function add(delivery: NewDelivery, isMove: boolean): KeptDelivery {
    const { webhookId, txHash, transferKey, body, confirmAt, confirmTag, replay = 0 } = delivery;
    const moved = isMove && transferKey !== '' ? orphanOf.get(webhookId, txHash, transferKey) : undefined;
    if (moved !== undefined) setState.run('moved', moved.id);
    const state = body === null || confirmAt !== null || confirmTag !== null ? 'waiting' : 'pending';
    const row = { ...delivery, replay, movedFrom: moved?.blockHash ?? null, state };
    return { ...delivery, state, id: Number(insert.run(row).lastInsertRowid) };
  }

  /** Back in the chain, an event that was sent and not withdrawn is not sent again. */
  function keepOne(delivery: NewDelivery): KeptDelivery[] {
    const { webhookId, blockHash, eventKey, replay = 0 } = delivery;
    if (hasWebhook.get(webhookId) === undefined) return [];
    const known = existing.get(webhookId, blockHash, eventKey, replay);
    if (known === undefined) return [add(delivery, replay === 0)];
    switch (known.state) {
      case 'orphaned':
        setState.run(known.deliveredAt === null ? 'pending' : 'delivered', known.id);
        return [];
      case 'dropped':
      case 'withdrawn':
      case 'moved':
        removeFollowUp.run(webhookId, blockHash, eventKey);
        remove.run(known.id);
        return [add(delivery, true)];
      default:
        return [];
    }
  }

  return {
    /** Each event once; returns the new ones. Call in a transaction. */
    keep: (deliveries: readonly NewDelivery[]): KeptDelivery[] => deliveries.flatMap(keepOne),
  };
}

function createWaiting(db: Database.Database) {
  const release = db
    .prepare<Heights & { now: number }, string>(
      `UPDATE deliveries SET state = 'pending', due_at = max(due_at, :now)
       WHERE state = 'waiting' AND body IS NOT NULL AND (confirm_at IS NULL OR confirm_at <= :head)
         AND (confirm_tag IS NULL OR confirm_tag = 'safe' AND block_number <= :safe
           OR confirm_tag = 'finalized' AND block_number <= :finalized)
       RETURNING webhook_id`,
    )
    .pluck();
  const tagged = db.prepare<[BlockTag]>("SELECT 1 FROM deliveries WHERE state = 'waiting' AND confirm_tag = ? LIMIT 1");
  const tokens = db
    .prepare<[], string>(
      `SELECT DISTINCT token FROM deliveries INDEXED BY deliveries_unnamed
       WHERE state = 'waiting' AND body IS NULL AND token IS NOT NULL`,
    )
    .pluck();
  const unnamed = db.prepare<[string], CompletedDelivery & { draft: string }>(
    `SELECT id, webhook_id AS webhookId, project_id AS projectId, tx_hash AS txHash, block_number AS blockNumber, draft
     FROM deliveries WHERE state = 'waiting' AND body IS NULL AND token = ? LIMIT ${SLICE}`,
  );
  const complete = db.prepare<[string, number]>('UPDATE deliveries SET body = ?, draft = NULL WHERE id = ?');
  const remove = db.prepare<[number]>('DELETE FROM deliveries WHERE id = ?');

  return {
    /** Returns their webhooks. */
    release: (heights: Heights, now: number): string[] => [...new Set(release.all({ ...heights, now }))],
    waitsFor: (tag: BlockTag): boolean => tagged.get(tag) !== undefined,
    unnamedTokens: (): string[] => tokens.all(),
    /** `render` returns null for deliveries that their webhook does not want. */
    async name(token: string, render: (draft: string) => string | null): Promise<CompletedDelivery[]> {
      const completed: CompletedDelivery[] = [];
      for (;;) {
        const count = db.transaction(() => {
          const rows = unnamed.all(token);
          for (const { draft, ...row } of rows) {
            const body = render(draft);
            if (body === null) {
              remove.run(row.id);
              continue;
            }
            complete.run(body, row.id);
            completed.push({ ...row, body });
          }
          return rows.length;
        })();
        if (count < SLICE) return completed;
        await nextTurn();
      }
    },
  };
}

function createWithdrawals(db: Database.Database) {
  // What may have arrived although no 200 came counts as delivered: it may need to be withdrawn.
  const orphan = db.prepare<[string]>(
    `UPDATE deliveries SET state = CASE WHEN state = 'delivered' OR attempts > 0 THEN 'orphaned' ELSE 'dropped' END
     WHERE block_hash = ? AND replay = 0 AND removed = 0 AND state IN ('waiting', 'pending', 'delivered', 'failed')`,
  );
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
    /** Call in a transaction. */
    orphan: (blockHash: string): void => void orphan.run(blockHash),
    /** Follow-ups for delivered events of orphaned blocks below a height. Returns how many. */
    withdraw: (below: number, now: number, render: (body: string) => string): number =>
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
