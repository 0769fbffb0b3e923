import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/client.ts';
import { connect } from '../../../src/store/postgres/connection.ts';
import { IDS_PER_DAY } from '../../../src/store/postgres/partitions.ts';
import { MIGRATIONS } from '../../../src/store/postgres/schema.ts';
import { clientConfig } from '../../../src/store/postgres/url.ts';
import { documentedTables } from '../documented-tables.ts';
import { isPostgresMissing, type PostgresServer, startPostgres } from './server.ts';

let server: PostgresServer;

/** A row of everything whose columns a later step changes, and of what they refer to. */
const ROWS = `
  INSERT INTO channels (channel_id, guild_id, state, due_at, attempts, since, reason) VALUES
    ('c', 'g', 'unreachable', 7, 2, 3, 'channel or server is gone'),
    ('d', 'g', 'unreachable', 7, 2, 3, 'channel or server is gone (10003)'), ('e', 'g', 'ready', 0, 0, NULL, NULL);
  INSERT INTO batches (channel_id, kind, edit_kind, nonce, reference, payload, state, frozen_at, sent_at) VALUES
    ('c', 'create', NULL, 'n', 'r', '{}', 'sent', 1, 4), ('c', 'edit', 'change', '', 'r', NULL, 'sent', 1, 5),
    ('c', 'edit', 'change', '', 'r', NULL, 'dead', 1, 6), ('c', 'edit', 'join', '', 'r', '{}', 'frozen', 1, NULL);
  INSERT INTO batches (id, channel_id, kind, edit_kind, nonce, reference, state, frozen_at, sent_at) VALUES
    (200000, 'c', 'edit', 'change', '', 'r', 'dead', 1, 6);
  INSERT INTO alerts (transfer_id, guild_id, channel_id, matches, created_at, state, batch_id, warnings, due_at) VALUES
    (1, 'g', 'c', '[]', 1, 'sent', 1, '[]', 0), (2, 'g', 'c', '[]', 1, 'dead', NULL, '[]', 0);
  INSERT INTO dead_letters (alert_id, channel_id, payload, reason, at) VALUES
    (1, 'c', '{}', 'r', 1), (2, 'c', NULL, 'r', 1), (99, 'c', NULL, 'r', 1);
  INSERT INTO erasures VALUES ('g', -1, 1, 2, 3, 4), ('h', 5, 1, 2, 3, 4);
  INSERT INTO transfers (id, key, scope, tx_hash, seen_at, count, bodies, data) VALUES (1, 'k', 0, '0x1', 1, 1, 2, '{}');
  SELECT add_days(ARRAY[20000]);
  INSERT INTO deliveries (transfer_id, key, count, owed, received, seen_at, minute, names) VALUES
    (1, 'a', 1, TRUE, 2, 1, '{"least":1}', '["id a","at 1 log:5","id at 7","at 1 log:6"]'),
    (1, 'b', 1, FALSE, 1, 1, NULL, '["id b"]'), (1, 'c', 1, FALSE, 1, 1, NULL, NULL),
    (${20_000 * IDS_PER_DAY}, 'd', 1, FALSE, 1, 1, NULL, '["id d"]');
  INSERT INTO counterparties VALUES ('g', '0x2', '12345678', '0x3', 5);
  INSERT INTO receiver_tokens (token, scope, created_at) VALUES ('t', 0, 1);
  INSERT INTO projects (guild_id, project_id, sealed, signed, updated_by, updated_at) VALUES ('g', 'p', 's', TRUE, 'u', 1)`;
const CHANGED = {
  channels: 'channel_id',
  batches: 'id',
  alerts: 'id',
  dead_letters: 'id',
  erasures: 'guild_id',
  deliveries: 'transfer_id, key',
  counterparties: 'guild_id',
  receiver_tokens: 'token',
  projects: 'id',
  transfers: 'id',
};

type Contents = Record<keyof typeof CHANGED, Record<string, unknown>[]>;

/** Makes a database of an earlier schema with rows, and returns its URL and how to read it. */
async function earlier(version: number): Promise<{ url: string; look: () => Promise<Contents> }> {
  const url = await server.createDatabase();
  const connection = connect(url);
  await connection.write(async (sql) => {
    for (const [step, migrate] of MIGRATIONS.slice(0, version).entries()) {
      await migrate(sql);
      if (step === 0) await sql.run(ROWS);
    }
    await sql.run("INSERT INTO meta VALUES ('schema-version', $1)", String(version));
  });
  await connection.close();
  const client = new pg.Client(clientConfig(url));
  await client.connect();
  onTestFinished(() => client.end());
  const look = async () => {
    const rows = Object.entries(CHANGED).map(async ([table, key]) => {
      const found = await client.query<Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY ${key}`);
      return [table, found.rows] as const;
    });
    return Object.fromEntries(await Promise.all(rows)) as Contents;
  };
  return { url, look };
}

/** What columns are called now that had other names. */
const RENAMED: Readonly<Record<string, string>> = {
  owed: 'unacknowledged',
  minute: 'first_minute',
  ends: 'outer_digits',
  unsure: 'unconfirmed',
  plain: 'plain_text',
};
/** Columns that are gone, and those whose values changed. */
const REWRITTEN = ['bodies', 'created_at', 'updated_by', 'updated_at', 'nonce', 'sent_at', 'scope', 'names'];

const inNewWords = (row: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => (REWRITTEN.includes(name) ? [] : [[RENAMED[name] ?? name, value]])),
  );

/** Expects the same rows after a migration as before it, but for columns that are gone or rewritten. */
function expectKept(before: Contents, after: Contents): void {
  for (const table of Object.keys(CHANGED) as (keyof Contents)[])
    expect(after[table]).toEqual(before[table].map((row) => expect.objectContaining(inNewWords(row))));
}

/** The values of some columns of each row. */
const columns = (rows: readonly Record<string, unknown>[], ...names: string[]) =>
  rows.map((row) => names.map((name) => row[name]));

describe.skipIf(isPostgresMissing())('migrations on Postgres', () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('keeps the rows of the first schema, and gives what was inferred columns of its own', async () => {
    const { url, look } = await earlier(1);
    const before = await look();
    await (await openPostgresStore(url)).close();
    const after = await look();

    expect(columns(after.channels, 'bot_removed')).toEqual([[true], [false], [false]]);
    expect(columns(after.batches, 'id', 'nonce', 'sent_at')).toEqual([
      [1, 'n', 4],
      [2, null, 5],
      [3, null, null],
      [4, null, null],
      [200_000, null, null],
    ]);
    expect(columns(after.dead_letters, 'kind')).toEqual([['change'], ['alert'], ['alert']]);
    expect(columns(after.erasures, 'scope')).toEqual([[null], [5]]);

    expect(columns(after.deliveries, 'unacknowledged', 'first_minute', 'ids', 'places')).toEqual([
      [true, '{"least":1}', '["a", "at 7"]', '["1 log:5", "1 log:6"]'],
      [false, null, '["b"]', null],
      [false, null, null, null],
      [false, null, '["d"]', null],
    ]);

    expectKept(before, after);
  });

  it('has the tables and columns that docs/tables.md describes, which may be null where it says what that means', async () => {
    const url = await server.createDatabase();
    await (await openPostgresStore(url)).close();
    const client = new pg.Client(clientConfig(url));
    await client.connect();
    onTestFinished(() => client.end());
    const { rows } = await client.query<{ table: string; column: string; isNullable: boolean }>(
      `SELECT relname AS table, attname AS column, NOT attnotnull AS "isNullable"
       FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
       WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
         AND attnum > 0 AND NOT attisdropped`,
    );
    const tables = [...Map.groupBy(rows, ({ table }) => table)].map(([table, columns]) => {
      return [table, Object.fromEntries(columns.map(({ column, isNullable }) => [column, isNullable]))];
    });
    expect(documentedTables('postgres')).toEqual(Object.fromEntries(tables));
  });

  it('migrates a database of each earlier schema once, and keeps its rows', async () => {
    for (let version = 1; version < MIGRATIONS.length; version++) {
      const { url, look } = await earlier(version);
      const before = await look();
      const steps: object[] = [];
      const open = async () => (await openPostgresStore(url, { onProgress: (details) => steps.push(details) })).close();
      await open();
      const after = await look();
      expectKept(before, after);
      expect(steps.at(-1)).toEqual({ schema: MIGRATIONS.length });
      await open();
      expect(steps.filter((details) => 'schema' in details)).toHaveLength(1);
      expect(await look()).toEqual(after);
    }
  });
});
