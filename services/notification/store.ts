import { randomBytes } from 'node:crypto';
import type Database from 'better-sqlite3';
import { openDatabase } from './database.ts';
import type { EventType } from './types.ts';

/** A webhook as it is kept. */
export interface Webhook {
  id: string;
  projectId: string;
  url: string;
  eventType: EventType;
}

/** Where scanning goes on: the next block's number, on the chain with this first block. */
export interface Cursor {
  genesis: string;
  next: number;
}

/** Blocks that were left for later, by number. */
export interface MissedBlocks {
  first: number;
  last: number;
}

/** A delivery before it is kept. */
export interface NewDelivery {
  webhookId: string;
  projectId: string;
  txHash: string;
  blockNumber: number;
  body: string;
  /** When it may be sent, in milliseconds since 1970. */
  dueAt: number;
}

/** A delivery that waits; `attempts` were made since it was last answered with 200, `repeats` after that. */
export interface Delivery extends NewDelivery {
  id: number;
  attempts: number;
  repeats: number;
  /** The webhook's receiver, as it is now. */
  url: string;
}

/** How far back a reorganisation is noticed. */
const rememberedBlocks = 256;

const deliveryColumns =
  'deliveries.*, webhooks.url FROM deliveries JOIN webhooks ON webhooks.id = deliveries.webhookId';

/** Webhooks, their addresses, the scanner's place and what is still to be delivered, in one SQLite file. */
export class NotificationStore {
  readonly #db: Database.Database;

  /** @throws as {@link openDatabase}. */
  constructor(dir: string) {
    this.#db = openDatabase(dir);
  }

  createWebhook(webhook: Omit<Webhook, 'id'>): Webhook {
    const created = { id: newId(), ...webhook };
    this.#db.prepare('INSERT INTO webhooks VALUES (:id, :projectId, :url, :eventType)').run(created);
    return created;
  }

  /** The webhook, if it exists and is the project's own. */
  findWebhook(projectId: string, id: string): Webhook | undefined {
    return this.#db
      .prepare<[string, string], Webhook>('SELECT * FROM webhooks WHERE id = ? AND projectId = ?')
      .get(id, projectId);
  }

  /** A project's webhooks, oldest first. */
  listWebhooks(projectId: string): Webhook[] {
    return this.#db
      .prepare<[string], Webhook>('SELECT * FROM webhooks WHERE projectId = ? ORDER BY rowid')
      .all(projectId);
  }

  updateWebhook(webhook: Webhook): void {
    this.#db.prepare('UPDATE webhooks SET url = :url, eventType = :eventType WHERE id = :id').run(webhook);
  }

  /** Deletes a webhook with its addresses and with what is still to be delivered to it. */
  deleteWebhook(id: string): void {
    this.#db.prepare('DELETE FROM webhooks WHERE id = ?').run(id);
  }

  /** Adds addresses to a webhook; answers how many were not in it before. */
  addAddresses(webhookId: string, addresses: readonly string[]): number {
    const insert = this.#db.prepare('INSERT OR IGNORE INTO addresses VALUES (?, ?, ?)');
    return this.#db.transaction(() =>
      addresses.reduce((added, address) => added + insert.run(newId(), webhookId, address.toLowerCase()).changes, 0),
    )();
  }

  /** Takes addresses out of a webhook; answers how many were in it. */
  deleteAddresses(webhookId: string, addresses: readonly string[]): number {
    const remove = this.#db.prepare('DELETE FROM addresses WHERE webhookId = ? AND address = ?');
    return this.#db.transaction(() =>
      addresses.reduce((removed, address) => removed + remove.run(webhookId, address.toLowerCase()).changes, 0),
    )();
  }

  /** The addresses of a webhook in lower case, oldest first. */
  listAddresses(webhookId: string): { id: string; address: string }[] {
    return this.#db
      .prepare<[string], { id: string; address: string }>(
        'SELECT id, address FROM addresses WHERE webhookId = ? ORDER BY rowid',
      )
      .all(webhookId);
  }

  /** Whether anybody watches anything. */
  hasAddresses(): boolean {
    return this.#db.prepare('SELECT 1 FROM addresses LIMIT 1').get() !== undefined;
  }

  /** The webhooks that watch an address, oldest first. */
  watchersOf(address: string): Webhook[] {
    return this.#db
      .prepare<[string], Webhook>(
        'SELECT webhooks.* FROM addresses JOIN webhooks ON webhooks.id = webhookId WHERE address = ? ORDER BY webhooks.rowid',
      )
      .all(address.toLowerCase());
  }

  cursor(): Cursor | undefined {
    return this.#db.prepare<[], Cursor>('SELECT genesis, next FROM cursor').get();
  }

  /** The hashes of the blocks of a number that were told: several after a reorganisation, none when it is long ago. */
  toldAt(number: number): string[] {
    return this.#db
      .prepare<[number], { hash: string }>('SELECT hash FROM blocks WHERE number = ?')
      .all(number)
      .map(({ hash }) => hash);
  }

  /** Begins anew on another chain: which blocks of the last one were told says nothing of this one. */
  restart(cursor: Cursor): void {
    this.#db.transaction(() => {
      this.#db.exec('DELETE FROM blocks; DELETE FROM missed');
      this.commit(cursor);
    })();
  }

  /**
   * Keeps a block's deliveries, that it was told, and the next place, all or nothing; answers the deliveries that were
   * kept: those to webhooks that were deleted meanwhile are not.
   */
  commit(cursor: Cursor, hash?: string, deliveries: readonly NewDelivery[] = []): (NewDelivery & { id: number })[] {
    return this.#db.transaction(() => {
      this.#move(cursor);
      if (hash !== undefined) {
        this.#db.prepare('INSERT OR IGNORE INTO blocks VALUES (?, ?)').run(hash, cursor.next - 1);
        this.#db.prepare('DELETE FROM blocks WHERE number < ?').run(cursor.next - rememberedBlocks);
      }
      return this.#keep(deliveries);
    })();
  }

  /** Leaves the blocks from `first` up to the next place for later. */
  miss(cursor: Cursor, first: number): void {
    this.#db.transaction(() => {
      this.#move(cursor);
      const range = { first, last: cursor.next - 1 };
      const joined = this.#db.prepare('UPDATE missed SET last = :last WHERE last = :first - 1').run(range);
      if (joined.changes === 0) this.#db.prepare('INSERT INTO missed VALUES (:first, :last)').run(range);
    })();
  }

  /** The blocks that were left for later, lowest first. */
  missed(): MissedBlocks[] {
    return this.#db.prepare<[], MissedBlocks>('SELECT first, last FROM missed ORDER BY first').all();
  }

  /** As {@link commit}, for the first of some blocks that were left for later. */
  commitMissed(number: number, hash: string, deliveries: readonly NewDelivery[]): (NewDelivery & { id: number })[] {
    return this.#db.transaction(() => {
      this.#db.prepare('INSERT OR IGNORE INTO blocks VALUES (?, ?)').run(hash, number);
      this.#db.prepare('DELETE FROM missed WHERE first = :number AND last = :number').run({ number });
      this.#db.prepare('UPDATE missed SET first = first + 1 WHERE first = ?').run(number);
      return this.#keep(deliveries);
    })();
  }

  #move(cursor: Cursor): void {
    this.#db.prepare('INSERT OR REPLACE INTO cursor VALUES (1, :genesis, :next)').run(cursor);
    // What is read again from here on must not be told once more as what was missed.
    this.#db.prepare('DELETE FROM missed WHERE first >= ?').run(cursor.next);
    this.#db.prepare('UPDATE missed SET last = :next - 1 WHERE last >= :next').run({ next: cursor.next });
  }

  #keep(deliveries: readonly NewDelivery[]): (NewDelivery & { id: number })[] {
    const webhook = this.#db.prepare<[string]>('SELECT 1 FROM webhooks WHERE id = ?');
    const insert = this.#db.prepare(
      'INSERT INTO deliveries (webhookId, projectId, txHash, blockNumber, body, dueAt) ' +
        'VALUES (:webhookId, :projectId, :txHash, :blockNumber, :body, :dueAt)',
    );
    return deliveries
      .filter(({ webhookId }) => webhook.get(webhookId) !== undefined)
      .map((delivery) => ({ ...delivery, id: Number(insert.run(delivery).lastInsertRowid) }));
  }

  /** The ids of webhooks that have something to be sent now. */
  webhooksWithDue(now: number): string[] {
    return this.#db
      .prepare<[number], { id: string }>(
        'SELECT id FROM webhooks WHERE EXISTS (SELECT 1 FROM deliveries WHERE webhookId = webhooks.id AND dueAt <= ?)',
      )
      .all(now)
      .map(({ id }) => id);
  }

  /**
   * The delivery of a webhook to be sent next: what fell due last, the newest event of it, or the one `skip` places
   * after it. Found at the first look, however many wait, due or put off.
   */
  nextDue(webhookId: string, now: number, skip: number): Delivery | undefined {
    return this.#db
      .prepare<[string, number, number], Delivery>(
        `SELECT ${deliveryColumns} WHERE deliveries.id =
           (SELECT id FROM deliveries INDEXED BY deliveriesOfWebhook
            WHERE webhookId = ? AND dueAt <= ? ORDER BY dueAt DESC, id DESC LIMIT 1 OFFSET ?)`,
      )
      .get(webhookId, now, skip);
  }

  countDue(webhookId: string, now: number): number {
    return this.#count('WHERE webhookId = ? AND dueAt <= ?', webhookId, now);
  }

  /** When the next delivery that is not yet due will be; undefined when there is none. */
  nextDueAt(now: number): number | undefined {
    const row = this.#db
      .prepare<[number], { dueAt: number | null }>(
        `SELECT min((SELECT min(dueAt) FROM deliveries WHERE webhookId = webhooks.id AND dueAt > ?)) AS dueAt
         FROM webhooks`,
      )
      .get(now);
    return row?.dueAt ?? undefined;
  }

  /** Puts a delivery off, after a failure or for a repetition. */
  postpone(id: number, to: { attempts: number; repeats: number; dueAt: number }): void {
    this.#db
      .prepare('UPDATE deliveries SET attempts = :attempts, repeats = :repeats, dueAt = :dueAt WHERE id = :id')
      .run({ id, ...to });
  }

  /** Makes every delivery due by then. */
  hasten(dueAt: number): void {
    this.#db.prepare('UPDATE deliveries SET dueAt = :dueAt WHERE dueAt > :dueAt').run({ dueAt });
  }

  deleteDelivery(id: number): void {
    this.#db.prepare('DELETE FROM deliveries WHERE id = ?').run(id);
  }

  /** The highest id of a delivery so far; 0 when there is none. */
  newestDelivery(): number {
    return this.#db.prepare<[], { id: number | null }>('SELECT max(id) AS id FROM deliveries').get()!.id ?? 0;
  }

  /** Deletes the deliveries of a webhook up to the one with this id; answers how many they were. */
  giveUp(webhookId: string, id: number): number {
    return this.#db.prepare('DELETE FROM deliveries WHERE webhookId = ? AND id <= ?').run(webhookId, id).changes;
  }

  countDeliveries(): number {
    return this.#count('');
  }

  close(): void {
    this.#db.close();
  }

  #count(where: string, ...parameters: (string | number)[]): number {
    return this.#db
      .prepare<(string | number)[], { count: number }>(`SELECT count(*) AS count FROM deliveries ${where}`)
      .get(...parameters)!.count;
  }
}

function newId(): string {
  return randomBytes(12).toString('hex');
}
