import { randomBytes } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { Confirmations, EventType } from '../types.ts';

export interface Webhook {
  id: string;
  projectId: string;
  url: string;
  eventType: EventType;
  confirmations: Confirmations;
  /** Whether a follow-up with `removed: true` is sent when an event's block leaves the chain. */
  withdrawals: boolean;
  parallel: number;
  /** Addresses added later are replayed from this block on; null: from now on only. */
  fromBlock: number | null;
}

type Row = Omit<Webhook, 'confirmations' | 'withdrawals'> & { confirmations: string; withdrawals: number };

const SELECT = `SELECT webhooks.id, project_id AS projectId, url, event_type AS eventType, confirmations, withdrawals,
  parallel, from_block AS fromBlock FROM webhooks`;

export function createWebhookStore(db: Database.Database) {
  const insert = db.prepare(
    `INSERT INTO webhooks (id, project_id, url, event_type, confirmations, withdrawals, parallel, from_block)
     VALUES (:id, :projectId, :url, :eventType, :confirmations, :withdrawals, :parallel, :fromBlock)`,
  );
  const update = db.prepare(
    `UPDATE webhooks SET url = :url, event_type = :eventType, confirmations = :confirmations, withdrawals = :withdrawals,
       parallel = :parallel, from_block = :fromBlock WHERE id = :id AND project_id = :projectId`,
  );
  const remove = db.prepare<[string]>('DELETE FROM webhooks WHERE id = ?');
  const own = db.prepare<[string, string], Row>(`${SELECT} WHERE id = ? AND project_id = ?`);
  const all = db.prepare<[string], Row>(`${SELECT} WHERE project_id = ? ORDER BY rowid`);
  const watchers = db.prepare<[string], Row>(
    `${SELECT} JOIN addresses ON webhooks.id = webhook_id WHERE address = ? ORDER BY webhooks.rowid`,
  );
  const insertAddress = db.prepare<[string, string, string]>('INSERT OR IGNORE INTO addresses VALUES (?, ?, ?)');
  const removeAddress = db.prepare<[string, string]>('DELETE FROM addresses WHERE webhook_id = ? AND address = ?');
  const listAddresses = db.prepare<{ id: string; after: string; limit: number }, { id: string; address: string }>(
    `SELECT id, address FROM addresses WHERE webhook_id = :id
       AND rowid > coalesce((SELECT rowid FROM addresses WHERE id = :after), -1) ORDER BY rowid LIMIT :limit`,
  );
  const anyAddress = db.prepare('SELECT 1 FROM addresses LIMIT 1');

  return {
    create(webhook: Omit<Webhook, 'id'>): Webhook {
      const created = { id: randomBytes(12).toString('hex'), ...webhook };
      insert.run(toRow(created));
      return created;
    },
    find: (projectId: string, id: string): Webhook | undefined => own.all(id, projectId).map(fromRow)[0],
    list: (projectId: string): Webhook[] => all.all(projectId).map(fromRow),
    update: (webhook: Webhook): void => void update.run(toRow(webhook)),
    delete: (id: string): void => void remove.run(id),
    /** Returns those that were not there before, in lower case. */
    addAddresses: (id: string, addresses: readonly string[]): string[] =>
      db.transaction(() =>
        addresses
          .map((address) => address.toLowerCase())
          .filter((address) => insertAddress.run(randomBytes(12).toString('hex'), id, address).changes > 0),
      )(),
    /** Returns how many were there. */
    deleteAddresses: (id: string, addresses: readonly string[]): number =>
      db.transaction(() =>
        addresses.reduce((removed, address) => removed + removeAddress.run(id, address.toLowerCase()).changes, 0),
      )(),
    /** In lower case, oldest first: `limit` of them, or all, after the one with the id `after`. */
    listAddresses: (id: string, after = '', limit = -1) => listAddresses.all({ id, after, limit }),
    hasAddresses: (): boolean => anyAddress.get() !== undefined,
    watchersOf: (address: string): Webhook[] => watchers.all(address.toLowerCase()).map(fromRow),
  };
}

function toRow(webhook: Webhook): Row {
  return { ...webhook, confirmations: String(webhook.confirmations), withdrawals: webhook.withdrawals ? 1 : 0 };
}

function fromRow({ confirmations, withdrawals, ...row }: Row): Webhook {
  const depth = confirmations === 'safe' || confirmations === 'finalized' ? confirmations : Number(confirmations);
  return { ...row, confirmations: depth, withdrawals: withdrawals === 1 };
}
