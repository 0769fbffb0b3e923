import { setImmediate as nextTurn } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import type { BlockTag } from '../types.ts';
import { SLICE } from './new-deliveries.ts';
import type { Delivery } from './outbox.ts';

/** A delivery whose body is complete. */
export type CompletedDelivery = Pick<Delivery, 'id' | 'webhookId' | 'projectId' | 'txHash' | 'blockNumber' | 'body'>;

/** Which heights the chain and its tags have reached; null where unknown. */
export type Heights = { head: number } & Record<BlockTag, number | null>;

/** Deliveries that wait for confirmations or for their token's facts. */
export interface WaitingStore {
  /** Makes deliveries pending that are complete and confirmed; returns their webhooks. */
  release(heights: Heights, now: number): string[];
  /** Whether a delivery waits for a tag to reach its block. */
  waitsFor(tag: BlockTag): boolean;
  /** The tokens that deliveries wait for. */
  unnamedTokens(): string[];
  /** Completes the deliveries of a token; `render` returns null for those that their webhook does not want. */
  name(token: string, render: (draft: string) => string | null): Promise<CompletedDelivery[]>;
}

/** Creates the part of the store that holds deliveries back until they can be sent. */
export function createWaitingStore(db: Database.Database): WaitingStore {
  const unnamed = db.prepare<[string], CompletedDelivery & { draft: string }>(
    `SELECT id, webhook_id AS webhookId, project_id AS projectId, tx_hash AS txHash, block_number AS blockNumber, draft
     FROM deliveries WHERE state = 'waiting' AND body IS NULL AND token = ? LIMIT ${SLICE}`,
  );
  const complete = db.prepare<[string, number]>('UPDATE deliveries SET body = ?, draft = NULL WHERE id = ?');
  const remove = db.prepare<[number]>('DELETE FROM deliveries WHERE id = ?');

  return {
    release(heights, now) {
      const rows = db
        .prepare<Heights & { now: number }, { webhookId: string }>(
          `UPDATE deliveries SET state = 'pending', due_at = max(due_at, :now)
           WHERE state = 'waiting' AND body IS NOT NULL AND (confirm_at IS NULL OR confirm_at <= :head)
             AND (confirm_tag IS NULL OR confirm_tag = 'safe' AND block_number <= :safe
               OR confirm_tag = 'finalized' AND block_number <= :finalized)
           RETURNING webhook_id AS webhookId`,
        )
        .all({ ...heights, now });
      return [...new Set(rows.map(({ webhookId }) => webhookId))];
    },
    waitsFor: (tag) =>
      db
        .prepare<[BlockTag]>("SELECT 1 FROM deliveries WHERE state = 'waiting' AND confirm_tag = ? LIMIT 1")
        .get(tag) !== undefined,
    unnamedTokens: () =>
      db
        .prepare<[], { token: string }>(
          `SELECT DISTINCT token FROM deliveries INDEXED BY deliveries_unnamed
           WHERE state = 'waiting' AND body IS NULL AND token IS NOT NULL`,
        )
        .all()
        .map(({ token }) => token),
    async name(token, render) {
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
