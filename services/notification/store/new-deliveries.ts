import type Database from 'better-sqlite3';
import type { BlockTag } from '../types.ts';

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
  /** Stays the same for a transfer in another block. */
  transferKey: string;
  /** Where in its transaction; null for what older versions stored. */
  place: string | null;
  /** The watched address. */
  matched: string | null;
  /** Height that the chain must reach first, if it waits for one. */
  confirmAt: number | null;
  /** Tag that must reach its block first, if it waits for one. */
  confirmTag: BlockTag | null;
  /** null while the token's facts are unknown. */
  body: string | null;
  /** What the body is made of, while it is null. */
  draft: string | null;
  token: string | null;
  /** 0 to 2: how late it comes among the events of one webhook. A transaction's first events come first. */
  rank: number;
  /** When it may be sent, in milliseconds since 1970. */
  dueAt: number;
  /** Above 0: sent again on request, by this replay. */
  replay?: number;
}

/** A delivery that was stored: `waiting` for confirmations or its token's facts, or `pending`. */
export type KeptDelivery = NewDelivery & { id: number; state: 'waiting' | 'pending' };

/** Stores deliveries when they are found. */
export interface NewDeliveryStore {
  /** Stores deliveries of existing webhooks, each event once; returns those that are new. Call in a transaction. */
  keep(deliveries: readonly NewDelivery[]): KeptDelivery[];
}

/** How many deliveries one transaction changes: nothing else runs meanwhile. */
export const SLICE = 500;

const INSERT = `INSERT INTO deliveries
  (webhook_id, project_id, tx_hash, block_number, block_hash, block_time, event_key, transfer_key, place, matched, replay,
   moved_from, state, confirm_at, confirm_tag, token, draft, body, rank, due_at)
  VALUES (:webhookId, :projectId, :txHash, :blockNumber, :blockHash, :blockTime, :eventKey, :transferKey, :place, :matched,
   :replay, :movedFrom, :state, :confirmAt, :confirmTag, :token, :draft, :body, :rank, :dueAt)`;

interface Existing {
  id: number;
  state: string;
  deliveredAt: number | null;
}

function stateOf({ body, confirmAt, confirmTag }: NewDelivery): KeptDelivery['state'] {
  return body === null || confirmAt !== null || confirmTag !== null ? 'waiting' : 'pending';
}

/** Creates the part of the store that takes new deliveries. */
export function createNewDeliveryStore(db: Database.Database): NewDeliveryStore {
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
  const removeFollowUp = db.prepare<[string, string, string]>(
    `DELETE FROM deliveries WHERE webhook_id = ? AND block_hash = ? AND event_key = ? AND removed = 1`,
  );

  function add(delivery: NewDelivery, isMove: boolean): KeptDelivery {
    const { webhookId, txHash, transferKey, replay = 0 } = delivery;
    const moved = isMove && transferKey !== '' ? orphanOf.get(webhookId, txHash, transferKey) : undefined;
    if (moved !== undefined) setState.run('moved', moved.id);
    const state = stateOf(delivery);
    const row = { ...delivery, replay, movedFrom: moved?.blockHash ?? null, state };
    return { ...delivery, state, id: Number(insert.run(row).lastInsertRowid) };
  }

  /** Stores a delivery unless it is known. Back in the chain, an event that was sent and not withdrawn is not sent again. */
  function keepOne(delivery: NewDelivery): KeptDelivery | undefined {
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
        removeFollowUp.run(webhookId, blockHash, eventKey);
        remove.run(known.id);
        return add(delivery, true);
      default:
        return undefined;
    }
  }

  return {
    keep: (deliveries) =>
      deliveries.flatMap((delivery) => {
        const kept = keepOne(delivery);
        return kept === undefined ? [] : [kept];
      }),
  };
}
