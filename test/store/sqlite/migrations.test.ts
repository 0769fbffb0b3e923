import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { MIGRATIONS } from '../../../src/store/sqlite/migrations.ts';
import { expectKept, look, makeFile } from './earlier-schemas.ts';

it.each([...MIGRATIONS.keys()])('keeps every row of schema %i', (from) => {
  const file = makeFile(from);
  const before = look(file);
  openDatabase(file).close();
  const after = look(file);
  expect([after.version, after.sound]).toEqual([MIGRATIONS.length, true]);
  expectKept(before.rows, after.rows);
});

/** A file of an earlier schema, with what `sql` adds to it, after its migration. */
function migrated(from: number, sql: string): Database.Database {
  const file = makeFile(from);
  const db = new Database(file);
  db.exec(sql);
  db.close();
  const opened = openDatabase(file);
  onTestFinished(opened.close);
  return opened.db;
}

it('keeps the oldest of transfers and alerts that are stored twice', () => {
  const db = migrated(
    6,
    `
    INSERT INTO transfers (id, key, scope, tx_hash, seen_at, count, bodies, data) VALUES (200000, x'0b', 0, '0x1', 1, 1, 1, '{}');
    INSERT INTO alerts (transfer_id, guild_id, channel_id, matches, created_at)
      VALUES (2, 'g', 'c', '[]', 1), (200000, 'g', 'c', '[]', 1), (200000, 'g', 'd', '[]', 1);
    INSERT INTO decisions (transfer_id, guild_id, channel_id, subscription_id, outcome) VALUES (200000, 'g', 'd', 2, 'matched');
    INSERT INTO deliveries (transfer_id, key, count, owed, received, seen_at) VALUES (200000, x'0d', 1, 0, 1, 1);`,
  );
  expect(db.prepare('SELECT id FROM transfers').pluck().all()).toEqual([1, 2]);
  expect(db.prepare('SELECT transfer_id, channel_id FROM alerts ORDER BY id').raw().all()).toEqual([
    [1, 'c'],
    [2, 'c'],
    [2, 'd'],
  ]);
  expect(db.prepare('SELECT transfer_id FROM decisions').pluck().all()).toEqual([1, 2]);
  expect(db.prepare('SELECT DISTINCT transfer_id FROM deliveries').pluck().all()).toEqual([2]);
  expect(db.pragma('foreign_key_check')).toEqual([]);
});

it('adds decisions to the activity stats that an earlier version had not counted', () => {
  // Of the pass from 2 to 5, the decisions up to 4 of subscription 1 are counted; 3 is of subscription 2.
  const db = migrated(
    6,
    `
    UPDATE rhythms SET events = 3, last_event_at = 40, gap_ms = 7, silence_told_at = 1;
    INSERT INTO decisions (id, transfer_id, guild_id, channel_id, subscription_id, outcome, at) VALUES
      (2, 1, 'g', 'c', 1, 'matched', 20), (3, 1, 'g', 'c', 2, 'matched', 30), (4, 1, 'g', 'c', 1, 'matched', 40),
      (5, 1, 'g', 'c', 1, 'matched', 50), (6, 1, 'g', 'c', 1, 'matched', 60);
    UPDATE meta SET value = '2' WHERE key = 'counted-decisions';
    INSERT INTO meta VALUES ('counting-decisions', '{"to":5,"subscription":1,"id":4}');`,
  );
  expect(db.prepare('SELECT * FROM activity_stats').all()).toEqual([
    { subscription_id: 1, events: 5, last_event_at: 60, gap_ms: 7, silence_reported_at: null },
  ]);
  expect(db.prepare('SELECT * FROM meta').all()).toEqual([]);
});

it('splits columns of messages, alerts and channels that had several meanings', () => {
  const db = migrated(
    8,
    `
    INSERT INTO batches (id, channel_id, kind, reason, nonce, reference, payload, state, frozen_at) VALUES
      (2, 'c', 'digest', 'hourly', 'n', 'd', '{"embeds":[]}', 'sent', 1), (3, 'c', 'edit', 'label', '', 'r', '', 'frozen', 1),
      (4, 'c', 'notice', 'closed', 'n', 'e', '{"embeds":[]}', 'sent', 1), (9, 'c', 'create', NULL, 'n', 'f', '{"embeds":[]}', 'sent', 1);
    DELETE FROM batches WHERE id = 9;
    UPDATE alerts SET state = 'dead', hold = 'discarded', due_at = 7, marks = '[1]';
    UPDATE channels SET state = 'paused';
    UPDATE transfers SET data = '{"from":"0xf","to":"0xt","token":null}';
    INSERT INTO meta VALUES ('removed-g', '5');`,
  );
  const batches =
    'SELECT id, digest_reason, edit_kind, about_channel_id, payload IS NULL, plain_text FROM batches ORDER BY id';
  expect(db.prepare(batches).raw().all()).toEqual([
    [1, null, null, null, 0, 1],
    [2, 'hourly', null, null, 0, 0],
    [3, null, 'label', null, 1, 0],
    [4, null, null, 'closed', 0, 0],
  ]);
  expect(db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'batches'").pluck().get()).toBe(9);
  expect(db.prepare('SELECT hold, due_at, discarded_at, warnings FROM alerts').raw().all()).toEqual([
    [null, 0, 7, '[1]'],
  ]);
  expect(db.prepare('SELECT payload FROM dead_letters').pluck().all()).toEqual([null]);
  expect(db.prepare('SELECT state FROM channels').pluck().all()).toEqual(['unreachable']);
  expect(db.prepare('SELECT from_address, to_address, token FROM transfers WHERE id = 1').raw().get()).toEqual([
    '0xf',
    '0xt',
    null,
  ]);
  expect(db.prepare('SELECT * FROM guild_removals').raw().all()).toEqual([['g', 5]]);
  expect(db.prepare('SELECT * FROM meta').all()).toEqual([]);
  expect(db.pragma('foreign_key_check')).toEqual([]);
});

it('keeps how many alerts a digest counts and which transfers moved, under their new names', () => {
  const db = migrated(
    15,
    `
    UPDATE batches SET kind = 'digest', lines = 7 WHERE id = 1;
    UPDATE transfers SET reorganised = 1 WHERE id = 2;`,
  );
  expect(db.prepare('SELECT alert_count FROM batches').pluck().all()).toEqual([7]);
  expect(db.prepare('SELECT id, reorganized FROM transfers ORDER BY id').raw().all()).toEqual([
    [1, 0],
    [2, 1],
  ]);
});

it('gives what was inferred from texts, states and special values columns of its own', () => {
  const db = migrated(
    16,
    `
    UPDATE channels SET state = 'unreachable', reason = 'channel or server is gone' WHERE channel_id = 'c';
    INSERT INTO channels (channel_id, guild_id, state, reason) VALUES
      ('d', 'g', 'unreachable', 'channel or server is gone (10003)'), ('e', 'g', 'parked', '50001');
    INSERT INTO batches (id, channel_id, kind, edit_kind, nonce, reference, state, frozen_at, sent_at) VALUES
      (2, 'c', 'edit', 'change', '', 'r', 'sent', 1, 5), (3, 'c', 'edit', 'change', '', 'r', 'dead', 1, 6),
      (9, 'c', 'edit', 'change', '', 'r', 'dead', 1, 6);
    DELETE FROM batches WHERE id = 9;
    UPDATE batches SET sent_at = 4 WHERE id = 1;
    INSERT INTO alerts (id, transfer_id, guild_id, channel_id, matches, created_at, state) VALUES (2, 2, 'g', 'c', '[]', 1, 'dead');
    INSERT INTO dead_letters (id, alert_id, channel_id, reason, at) VALUES (2, 2, 'c', 'r', 1), (3, 99, 'c', 'r', 1);
    INSERT INTO erasures VALUES ('g', -1, 1, 2, 3, 4), ('h', 5, 1, 2, 3, 4);`,
  );
  const removed = 'SELECT channel_id, bot_removed FROM channels ORDER BY 1';
  expect(db.prepare(removed).raw().all()).toEqual([
    ['c', 1],
    ['d', 0],
    ['e', 0],
  ]);
  expect(db.prepare('SELECT id, nonce, sent_at FROM batches ORDER BY 1').raw().all()).toEqual([
    [1, 'n', 4],
    [2, null, 5],
    [3, null, null],
  ]);
  expect(db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'batches'").pluck().get()).toBe(9);
  expect(db.prepare('SELECT id, kind FROM dead_letters ORDER BY 1').raw().all()).toEqual([
    [1, 'change'],
    [2, 'alert'],
    [3, 'alert'],
  ]);
  expect(db.prepare('SELECT guild_id, scope FROM erasures ORDER BY 1').raw().all()).toEqual([
    ['g', null],
    ['h', 5],
  ]);
  expect(db.pragma('foreign_key_check')).toEqual([]);
});

it('assigns no id again that an erasure, an audit entry, a decision or something for operators had', () => {
  const db = migrated(
    17,
    `
    INSERT INTO audit (id, guild_id, user_id, action, detail, at) VALUES (7, 'g', 'u', 'a', '{}', 1);
    INSERT INTO decisions (id, transfer_id, guild_id, channel_id, subscription_id, outcome) VALUES (8, 1, 'g', 'c', 1, 'matched');
    INSERT INTO quarantine (id, scope, received_at, reason, body, answered_at) VALUES (9, 0, 1, 'r', x'00', 5);
    INSERT INTO dead_letters (id, kind, alert_id, channel_id, reason, at) VALUES (10, 'alert', 1, 'c', 'r', 1);
    INSERT INTO erasures VALUES ('g', NULL, 1, 2, 20, 3), ('h', 5, 1, 2, 3, 30);`,
  );
  const sequences = `SELECT name, seq FROM sqlite_sequence
    WHERE name IN ('audit', 'decisions', 'quarantine', 'dead_letters') ORDER BY name`;
  expect(db.prepare(sequences).raw().all()).toEqual([
    ['audit', 30],
    ['dead_letters', 10],
    ['decisions', 20],
    ['quarantine', 9],
  ]);
  expect(db.prepare('SELECT answered_at FROM quarantine').pluck().all()).toEqual([null, 5]);
  expect(db.pragma('foreign_key_check')).toEqual([]);
});

it('gives the ids and places of signed bodies lists of their own, and columns plain names', () => {
  const db = migrated(
    17,
    `
    UPDATE deliveries SET owed = 1, minute = '{"least":1}', names = '["id a","at 1 log:5","id at 7","at 1 log:6"]';
    INSERT INTO deliveries (transfer_id, key, count, owed, received, seen_at, names) VALUES
      (1, x'01', 1, 0, 1, 1, '["id b"]'), (1, x'02', 1, 0, 1, 1, NULL);
    UPDATE batches SET plain = 1, unsure = 1;
    INSERT INTO counterparties VALUES ('g', '0x2', '12345678', '0x3', 5);
    INSERT INTO projects (guild_id, project_id, sealed, updated_by, updated_at, signed) VALUES ('g', 'p', x'00', 'u', 1, 1);`,
  );
  const deliveries = 'SELECT unacknowledged, first_minute, ids, places FROM deliveries ORDER BY transfer_id DESC, key';
  expect(db.prepare(deliveries).raw().all()).toEqual([
    [1, '{"least":1}', '["a","at 7"]', '["1 log:5","1 log:6"]'],
    [0, null, '["b"]', null],
    [0, null, null, null],
  ]);
  expect(db.prepare('SELECT plain_text, unconfirmed FROM batches').raw().all()).toEqual([[1, 1]]);
  expect(db.prepare('SELECT outer_digits, counterparty FROM counterparties').raw().all()).toEqual([
    ['12345678', '0x3'],
  ]);
  expect(db.prepare('SELECT id, guild_id, project_id, signed FROM projects').raw().all()).toEqual([[1, 'g', 'p', 1]]);
  expect(db.prepare('SELECT token, scope, retiring FROM receiver_tokens').raw().all()).toEqual([
    ['a-token-of-long-ago', 0, 0],
  ]);
});
