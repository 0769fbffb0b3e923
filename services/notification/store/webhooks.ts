import { randomBytes } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { Confirmations, EventType } from '../types.ts';

/** A webhook as it is stored. */
export interface Webhook {
  id: string;
  projectId: string;
  url: string;
  eventType: EventType;
  /** How many blocks must follow before an event is sent. */
  confirmations: Confirmations;
  /** Whether a follow-up with `removed: true` is sent when an event's block leaves the chain. */
  withdrawals: boolean;
  /** How many deliveries may be under way at the same time. */
  parallel: number;
  /** Addresses added later are replayed from this block on; null: from now on only. */
  fromBlock: number | null;
}

type Row = Omit<Webhook, 'confirmations' | 'withdrawals'> & { confirmations: string; withdrawals: number };

const COLUMNS = `webhooks.id, project_id AS projectId, url, event_type AS eventType, confirmations, withdrawals, parallel,
  from_block AS fromBlock`;

/** Webhooks and the addresses that they watch. */
export interface WebhookStore {
  create(webhook: Omit<Webhook, 'id'>): Webhook;
  /** The webhook, if it exists and is the project's own. */
  find(projectId: string, id: string): Webhook | undefined;
  /** A project's webhooks, oldest first. */
  list(projectId: string): Webhook[];
  update(webhook: Webhook): void;
  /** Deletes a webhook with its addresses and its pending deliveries. */
  delete(id: string): void;
  /** Adds addresses; returns those that were not there before, in lower case. */
  addAddresses(id: string, addresses: readonly string[]): string[];
  /** Removes addresses; returns how many were there. */
  deleteAddresses(id: string, addresses: readonly string[]): number;
  /** The addresses in lower case, oldest first: `limit` of them after the one with the id `after`. */
  listAddresses(id: string, page?: { after?: string; limit?: number }): { id: string; address: string }[];
  /** Whether any webhook watches anything. */
  hasAddresses(): boolean;
  /** The webhooks that watch an address, oldest first. */
  watchersOf(address: string): Webhook[];
}

/** Creates the part of the store that keeps webhooks. */
export function createWebhookStore(db: Database.Database): WebhookStore {
  const watchers = db.prepare<[string], Row>(
    `SELECT ${COLUMNS} FROM addresses JOIN webhooks ON webhooks.id = webhook_id WHERE address = ? ORDER BY webhooks.rowid`,
  );
  const insertAddress = db.prepare<[string, string, string]>('INSERT OR IGNORE INTO addresses VALUES (?, ?, ?)');
  const removeAddress = db.prepare<[string, string]>('DELETE FROM addresses WHERE webhook_id = ? AND address = ?');
  const anyAddress = db.prepare('SELECT 1 FROM addresses LIMIT 1');
  const byId = db.prepare<[string], Row>(`SELECT ${COLUMNS} FROM webhooks WHERE id = ?`);

  return {
    create(webhook) {
      const created = { id: randomBytes(12).toString('hex'), ...webhook };
      db.prepare(
        `INSERT INTO webhooks (id, project_id, url, event_type, confirmations, withdrawals, parallel, from_block)
         VALUES (:id, :projectId, :url, :eventType, :confirmations, :withdrawals, :parallel, :fromBlock)`,
      ).run(toRow(created));
      return created;
    },
    find(projectId, id) {
      const row = byId.get(id);
      return row === undefined || row.projectId !== projectId ? undefined : fromRow(row);
    },
    list: (projectId) =>
      db
        .prepare<[string], Row>(`SELECT ${COLUMNS} FROM webhooks WHERE project_id = ? ORDER BY rowid`)
        .all(projectId)
        .map(fromRow),
    update(webhook) {
      db.prepare(
        `UPDATE webhooks SET url = :url, event_type = :eventType, confirmations = :confirmations,
           withdrawals = :withdrawals, parallel = :parallel, from_block = :fromBlock WHERE id = :id AND project_id = :projectId`,
      ).run(toRow(webhook));
    },
    delete(id) {
      db.prepare('DELETE FROM webhooks WHERE id = ?').run(id);
    },
    addAddresses: (id, addresses) =>
      db.transaction(() =>
        addresses
          .map((address) => address.toLowerCase())
          .filter((address) => insertAddress.run(randomBytes(12).toString('hex'), id, address).changes > 0),
      )(),
    deleteAddresses: (id, addresses) =>
      db.transaction(() =>
        addresses.reduce((removed, address) => removed + removeAddress.run(id, address.toLowerCase()).changes, 0),
      )(),
    listAddresses: (id, { after = '', limit = -1 } = {}) =>
      db
        .prepare<{ id: string; after: string; limit: number }, { id: string; address: string }>(
          `SELECT id, address FROM addresses WHERE webhook_id = :id
             AND rowid > coalesce((SELECT rowid FROM addresses WHERE id = :after), -1) ORDER BY rowid LIMIT :limit`,
        )
        .all({ id, after, limit }),
    hasAddresses: () => anyAddress.get() !== undefined,
    watchersOf: (address) => watchers.all(address.toLowerCase()).map(fromRow),
  };
}

function toRow(webhook: Webhook): Row {
  return { ...webhook, confirmations: String(webhook.confirmations), withdrawals: webhook.withdrawals ? 1 : 0 };
}

function fromRow({ confirmations, withdrawals, ...row }: Row): Webhook {
  const depth = confirmations === 'safe' || confirmations === 'finalized' ? confirmations : Number(confirmations);
  return { ...row, confirmations: depth, withdrawals: withdrawals === 1 };
}
