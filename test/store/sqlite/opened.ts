import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/store/sqlite/database.ts';

/** An empty database that is gone after the test. */
export function openHere(): Database {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerbell-store-'));
  const { db, close } = openDatabase(join(dir, 'test.sqlite'));
  onTestFinished(() => {
    close();
    rmSync(dir, { recursive: true });
  });
  return db;
}

/** Inserts a row into a table; returns its id. */
export function put(db: Database, table: string, row: Record<string, string | number | null>): number {
  const keys = Object.keys(row);
  const sql = `INSERT INTO ${table} (${keys.join(', ')}) VALUES (${keys.map((key) => `@${key}`).join(', ')})`;
  return Number(db.prepare(sql).run(row).lastInsertRowid);
}

let serial = 0;

/** Inserts a transfer that was seen then; returns its id. */
export function putTransfer(db: Database, seenAt: number, data: object = {}, scope = 0): number {
  const key = String(serial++);
  const row = { key, scope, tx_hash: `0x${key}`, seen_at: seenAt, count: 1, data: JSON.stringify(data) };
  return put(db, 'transfers', row);
}
