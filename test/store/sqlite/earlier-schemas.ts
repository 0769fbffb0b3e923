import Database from 'better-sqlite3';
import { expect } from 'vitest';
import { MIGRATIONS } from '../../../src/store/sqlite/migrations.ts';
import { temporaryFile } from '../../lifecycle/bot.ts';

/** A schema after the newest one. */
export const NEXT_SCHEMA = `CREATE TABLE next_version (a); INSERT INTO next_version VALUES (1);
  ALTER TABLE guilds ADD COLUMN next_version TEXT; UPDATE quarantine SET reason = 'changed' WHERE 0;`;
export const SCHEMAS = [...MIGRATIONS, NEXT_SCHEMA];

/** A row of everything that the first schema can hold. */
const ROWS = `
  INSERT INTO receiver_tokens VALUES ('a-token-of-long-ago', 0, 1);
  INSERT INTO quarantine (scope, received_at, reason, body) VALUES (0, 1, 'The body is not JSON.', 'kept');
  INSERT INTO transfers (id, key, scope, tx_hash, seen_at, count, bodies, data) VALUES (1, '0a', 0, '0x1', 1e15, 1, 1, '{}'),
    (2, '0b', 0, '0x1', 1e15, 1, 1, '{}');
  INSERT INTO deliveries (key, transfer_key, count, owed, answered_at, received, seen_at)
    VALUES ('d1', '0b', 1, 0, 2, 1, 1e15);
  INSERT INTO decisions (transfer_id, guild_id, channel_id, subscription_id, outcome) VALUES (1, 'g', 'c', 1, 'matched');
  INSERT INTO subscriptions (guild_id, channel_id, address, label, created_by, created_at, last_event_at)
    VALUES ('g', 'c', '0x2', 'Treasury', 'u', 1, 1e15);
  INSERT INTO guilds (guild_id, timezone) VALUES ('g', 'Asia/Tokyo');
  INSERT INTO channels (channel_id, guild_id) VALUES ('c', 'g');
  INSERT INTO batches (channel_id, kind, nonce, reference, payload, state, frozen_at)
    VALUES ('c', 'create', 'n', 'r', '{}', 'sent', 1e15);
  INSERT INTO alerts (transfer_id, guild_id, channel_id, matches, created_at, state, batch_id)
    VALUES (1, 'g', 'c', '[]', 1, 'sent', 1);
  INSERT INTO dead_letters (alert_id, channel_id, payload, reason, at) VALUES (1, 'c', '', 'r', 1);`;

/** Makes a database of an earlier schema, with rows. */
export function makeFile(version: number): string {
  const file = temporaryFile();
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('foreign_keys = OFF');
  for (const [step, schema] of SCHEMAS.slice(0, version).entries()) {
    db.exec(schema);
    if (step === 0) db.exec(ROWS);
  }
  db.pragma(`user_version = ${version}`);
  db.close();
  return file;
}

export type Contents = Record<string, Record<string, unknown>[]>;

/** Reads everything that a database file holds. */
export function look(file: string): { version: number; sound: boolean; schema: unknown[]; rows: Contents } {
  const db = new Database(file, { readonly: true });
  const tables = db.prepare<[], { name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  const rows = tables.map(({ name }) => [name, db.prepare(`SELECT * FROM ${name}`).all()] as const);
  const found = {
    version: db.pragma('user_version', { simple: true }) as number,
    sound: db.pragma('integrity_check', { simple: true }) === 'ok',
    schema: db.prepare('SELECT name, sql FROM sqlite_master ORDER BY name').all(),
    rows: Object.fromEntries(rows) as Contents,
  };
  db.close();
  return found;
}

/** What columns of transfers, deliveries and batches are called now, and those that are gone. */
const RENAMED: Readonly<Record<string, string>> = {
  reorganised: 'reorganized',
  lines: 'alert_count',
  owed: 'unacknowledged',
  minute: 'first_minute',
  names: 'ids',
  unsure: 'unconfirmed',
  plain: 'plain_text',
};
const DROPPED = ['bodies'];

/**
 * The same, whether keys are hex text or bytes, whether deliveries name their transfer by its key or by its number, and
 * whether a subscription's activity stats are in its row or in one of their own; without columns that were split.
 */
function regardless(contents: Contents): Contents {
  const keyed = ({ key, ...row }: Record<string, unknown>) => ({
    ...row,
    key: Buffer.isBuffer(key) ? key.toString('hex') : key,
  });
  const {
    transfers = [],
    deliveries = [],
    subscriptions = [],
    rhythms = [],
    activity_stats: stats = [],
    meta = [],
    alerts = [],
    batches = [],
    receiver_tokens: tokens = [],
    dead_letters: letters = [],
    labels = [],
    ...others
  } = contents;
  const names = subscriptions.flatMap(({ guild_id, address, label: name, created_by, created_at: at }) =>
    name ? [{ guild_id, address, name, created_by, at }] : [],
  );
  const unnamed = ({ label, ...row }: Record<string, unknown>) => row;
  const renamed = ({ silence_told_at: toldAt, ...row }: Record<string, unknown>) =>
    toldAt === undefined ? row : { ...row, silence_reported_at: toldAt };
  const inNewWords = (row: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(row).flatMap(([name, value]) => (DROPPED.includes(name) ? [] : [[RENAMED[name] ?? name, value]])),
    );
  const ids = new Map(transfers.map(keyed).map((row) => [row.key, (row as Record<string, unknown>).id]));
  const pointing = ({ transfer_key: key, ...row }: Record<string, unknown>) =>
    key === undefined ? row : { ...row, transfer_id: ids.get(key) };
  const statsOf = new Map([...rhythms, ...stats].map((row) => [row.subscription_id, row]));
  return {
    ...others,
    alerts: alerts.map(({ marks, ...row }) => (marks === undefined ? row : { ...row, warnings: marks })),
    batches: batches.map(({ reason, ...row }) => inNewWords(row)),
    receiver_tokens: tokens.map(({ created_at, ...row }) => row),
    dead_letters: letters.map((row) => ({ ...row, payload: row.payload || null })),
    transfers: transfers.map(keyed).map(inNewWords),
    deliveries: deliveries.map(keyed).map(pointing).map(inNewWords),
    subscriptions: subscriptions.map((row) => unnamed(renamed({ ...statsOf.get(row.id), ...row }))),
    labels: [...labels, ...names],
    meta: meta.filter(({ key }) => key !== 'counted-decisions'),
  };
}

/** Every row of `before`, in the columns that it had, is there now. */
export function expectKept(before: Contents, now: Contents): void {
  const kept = Object.entries(regardless(before)).filter(([table]) => table !== 'sqlite_sequence');
  const found = regardless(now);
  for (const [table, rows] of kept) expect(found[table] ?? []).toEqual(rows.map((row) => expect.objectContaining(row)));
}
