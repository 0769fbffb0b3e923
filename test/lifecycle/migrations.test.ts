import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { restore } from '../../src/store/sqlite/backup.ts';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { migrations } from '../../src/store/sqlite/migrations.ts';
import { accepted, bodiesIn, startBot, startInVain, temporaryFile } from './bot.ts';

const NEXT_SCHEMA = `CREATE TABLE next_version (a); INSERT INTO next_version VALUES (1);
  ALTER TABLE guilds ADD COLUMN next_version TEXT; UPDATE quarantine SET reason = 'changed' WHERE 0;`;
const schemas = [...migrations, NEXT_SCHEMA];

/** A row of everything that the first schema can hold. */
const ROWS = `
  INSERT INTO receiver_tokens VALUES ('a-token-of-long-ago', 0, 1);
  INSERT INTO quarantine (scope, received_at, reason, body) VALUES (0, 1, 'The body is not JSON.', 'kept');
  INSERT INTO transfers (id, key, scope, tx_hash, seen_at, count, bodies, data) VALUES (1, '0a', 0, '0x1', 1e15, 1, 1, '{}'),
    (2, '0b', 0, '0x1', 1e15, 1, 1, '{}');
  INSERT INTO deliveries (key, transfer_key, count, owed, answered_at, received, seen_at)
    VALUES ('d1', '0b', 1, 0, 2, 1, 1e15);
  INSERT INTO decisions (transfer_id, guild_id, channel_id, subscription_id, outcome) VALUES (1, 'g', 'c', 1, 'matched');
  INSERT INTO subscriptions (guild_id, channel_id, address, created_by, created_at, last_event_at)
    VALUES ('g', 'c', '0x2', 'u', 1, 1e15);
  INSERT INTO guilds (guild_id, timezone) VALUES ('g', 'Asia/Tokyo');
  INSERT INTO channels (channel_id, guild_id) VALUES ('c', 'g');
  INSERT INTO batches (channel_id, kind, nonce, reference, payload, state, frozen_at)
    VALUES ('c', 'create', 'n', 'r', '{}', 'sent', 1e15);
  INSERT INTO alerts (transfer_id, guild_id, channel_id, matches, created_at, state, batch_id)
    VALUES (1, 'g', 'c', '[]', 1, 'sent', 1);
  INSERT INTO dead_letters (alert_id, channel_id, payload, reason, at) VALUES (1, 'c', '', 'r', 1);`;

function makeFile(version: number): string {
  const file = temporaryFile();
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('foreign_keys = OFF');
  for (const [step, schema] of schemas.slice(0, version).entries()) {
    db.exec(schema);
    if (step === 0) db.exec(ROWS);
  }
  db.pragma(`user_version = ${version}`);
  db.close();
  return file;
}

type Contents = Record<string, Record<string, unknown>[]>;

function look(file: string): { version: number; sound: boolean; schema: unknown[]; rows: Contents } {
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
    dead_letters: letters = [],
    ...others
  } = contents;
  const renamed = ({ silence_told_at: toldAt, ...row }: Record<string, unknown>) =>
    toldAt === undefined ? row : { ...row, silence_reported_at: toldAt };
  const ids = new Map(transfers.map(keyed).map((row) => [row.key, (row as Record<string, unknown>).id]));
  const pointing = ({ transfer_key: key, ...row }: Record<string, unknown>) =>
    key === undefined ? row : { ...row, transfer_id: ids.get(key) };
  const statsOf = new Map([...rhythms, ...stats].map((row) => [row.subscription_id, row]));
  return {
    ...others,
    alerts: alerts.map(({ marks, ...row }) => (marks === undefined ? row : { ...row, warnings: marks })),
    batches: batches.map(({ reason, ...row }) => row),
    dead_letters: letters.map((row) => ({ ...row, payload: row.payload || null })),
    transfers: transfers.map(keyed),
    deliveries: deliveries.map(keyed).map(pointing),
    subscriptions: subscriptions.map((row) => renamed({ ...statsOf.get(row.id), ...row })),
    meta: meta.filter(({ key }) => key !== 'counted-decisions'),
  };
}

/** Every row of `before`, in the columns that it had, is there now. */
function expectKept(before: Contents, now: Contents): void {
  const kept = Object.entries(regardless(before)).filter(([table]) => table !== 'sqlite_sequence');
  const found = regardless(now);
  for (const [table, rows] of kept) expect(found[table] ?? []).toEqual(rows.map((row) => expect.objectContaining(row)));
}

/** Every fourth, and the last: each is a real start, killed several times. */
const killed = [...schemas.keys()].filter((version) => version % 4 === 0 || version === schemas.length - 1);

describe.each(killed.map((version) => [version]))('from schema %i', (from) => {
  // The first step is killed at its beginning and at its end; the third kill lets it be done and meets the next. The
  // steps that follow are killed in the same way from the schema that they start from.
  const last = from === schemas.length - 1;
  const steps = ['migration begun', 'migration uncommitted', ...(last ? [] : ['migration begun@2'])];
  const points = [...(from > 0 ? ['copy written'] : []), ...steps];

  it('killed anywhere: a whole schema, every row, and the next start completes it', async () => {
    const file = makeFile(from);
    const before = look(file);
    for (const point of points) {
      expect([point, (await startInVain(file, { NEXT_SCHEMA, CRASH_POINT: point })).signal]).toEqual([
        point,
        'SIGKILL',
      ]);
      const after = look(file);
      expect(after.sound).toBe(true);
      expect(after.version).toBeGreaterThanOrEqual(from);
      if (after.version === from) expect(after).toEqual(before);
      else expectKept(before.rows, after.rows);
    }
    const bot = await startBot(file, { NEXT_SCHEMA });
    const completed = look(file);
    expect([completed.version, completed.sound]).toEqual([schemas.length, true]);
    expectKept(before.rows, completed.rows);
    await accepted(() => bot.post('more'));

    const copy = `${file}.before-schema-${schemas.length}`;
    expect(existsSync(`${copy}.partial`)).toBe(false);
    if (from === 0) return;
    expect(look(copy)).toEqual(before);
    expect(bodiesIn(copy)).toEqual(['kept']);
  });
});

it.each([...migrations.keys()])('keeps every row of schema %i', (from) => {
  const file = makeFile(from);
  const before = look(file);
  openDatabase(file).close();
  const after = look(file);
  expect([after.version, after.sound]).toEqual([migrations.length, true]);
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
    'SELECT id, digest_reason, edit_kind, about_channel_id, payload IS NULL, plain FROM batches ORDER BY id';
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

it('an update after one that was taken back keeps a copy of what was written between them', async () => {
  const file = makeFile(migrations.length);
  const copy = `${file}.before-schema-${schemas.length}`;
  const update = async () => {
    const bot = await startBot(file, { NEXT_SCHEMA });
    bot.kill('SIGTERM');
    await bot.ended;
  };
  await update();
  await restore(file, copy, Date.now());
  const db = new Database(file);
  db.exec("INSERT INTO inbox (scope, received_at, body) VALUES (0, 1, CAST('since then' AS BLOB))");
  db.close();
  await update();
  expect(bodiesIn(copy)).toEqual(['since then', 'kept']);
});
