import pg from 'pg';
import { SECOND } from '../../domain/clock.ts';
import type { Transfer } from '../../domain/transfer.ts';
import {
  COPIED_TABLES,
  type CopiedTable,
  type CopyableDatabase,
  MAX_COPIED_ROWS,
  TABLE_NAMES,
  type Value,
  withoutNul,
} from '../sql/copyable.ts';
import { openPostgresStore } from './client.ts';
import { toStoreError } from './errors.ts';
import { addPartitions, IDS_PER_DAY } from './partitions.ts';
import { clientConfig } from './url.ts';

/** How long it waits for the locks of processes that should have ended, and for their connections to end. */
const LOCK_MS = 5_000;
/** How often it looks for such connections meanwhile: Postgres ends them a moment after their process. */
const MAX_LOOKS = 20;

/** Columns that only Postgres has: what SQLite computes from a transfer's data, and what only running processes need. */
const OWN_COLUMNS: Partial<Record<CopiedTable, readonly string[]>> = {
  transfers: ['from_address', 'to_address', 'token', 'kind', 'token_symbol', 'token_type'],
  inbox: ['is_open'],
};
/**
 * A transfer's id without its day. What ids end with is unique, because one sequence counts them. With its day, SQLite would
 * assign all later ids in the last day, and retention would delete them with that day once they are moved back.
 *
 * ORDER BY means the alias, not the column, so the server sorts the table. The target is read back in this order, and a
 * transfer of an earlier day may have a later number.
 */
const withoutDay = (column: string): string => `${column} % ${IDS_PER_DAY} AS ${column}`;

/** Single values that only Postgres has. */
const OWN_KEYS = "key <> 'schema-version'";

type ColumnType = 'bigint' | 'text' | 'boolean' | 'bytea';

interface Column {
  name: string;
  type: ColumnType;
  isIdentity: boolean;
}

/** Opens a database to be moved or to be filled; throws an Error with a message for the operator while a bot uses it. */
export async function openPostgresForCopy(url: string, { isSource }: { isSource: boolean }): Promise<CopyableDatabase> {
  const client = new pg.Client({ ...clientConfig(url), application_name: 'ledgerbell-move', lock_timeout: LOCK_MS });
  // A broken connection fails the next statement.
  client.on('error', () => undefined);
  const { host, pathname } = new URL(url);
  const name = `postgres://${host}${pathname}`;
  await using stack = new AsyncDisposableStack();
  stack.defer(() => client.end());
  try {
    await client.connect();
    await assertUnused(client, name);
    await assertThere(client, name, isSource);
    const { close } = await openPostgresStore(url);
    await close();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query(`LOCK TABLE ${TABLE_NAMES.join(', ')} IN ACCESS EXCLUSIVE MODE`);
    const copyable = await toCopyable(client, name, isSource);
    stack.move();
    return copyable;
  } catch (error) {
    throw toStoreError(error).error;
  }
}

async function assertUnused(client: pg.Client, name: string): Promise<void> {
  for (let look = 0; look < MAX_LOOKS; look++) {
    const { rows } = await client.query<{ n: number }>(
      `SELECT count(*) AS n FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'ledgerbell%' AND pid <> pg_backend_pid()`,
    );
    if (rows[0]!.n === 0) return;
    await client.query('SELECT pg_sleep($1)', [LOCK_MS / MAX_LOOKS / SECOND]);
  }
  throw new Error(`Processes are using ${name}. Stop every one of them first.`);
}

async function assertThere(client: pg.Client, name: string, isSource: boolean): Promise<void> {
  const { rows } = await client.query<{ found: string | null }>("SELECT to_regclass('subscriptions')::text AS found");
  if (isSource && rows[0]!.found === null) throw new Error(`There is no Ledgerbell in ${name}.`);
}

async function toCopyable(client: pg.Client, name: string, isSource: boolean): Promise<CopyableDatabase> {
  const tables = await readColumns(client);
  const typesOf = (table: CopiedTable, columns: readonly string[]): ColumnType[] =>
    columns.map((column) => tables.get(table)!.find((one) => one.name === column)!.type);
  const withIds = TABLE_NAMES.filter((table) => tables.get(table)!.some(({ isIdentity }) => isIdentity));
  const sql = { run: async (text: string, ...values: unknown[]) => (await client.query(text, values)).rowCount ?? 0 };
  const read = (table: CopiedTable, column: string): string =>
    isSource && (column === 'transfer_id' || (table === 'transfers' && column === 'id')) ? withoutDay(column) : column;
  const where = (table: CopiedTable): string => (table === 'meta' ? `WHERE ${OWN_KEYS}` : '');

  return {
    name,

    async columns(table) {
      const own = OWN_COLUMNS[table] ?? [];
      return tables
        .get(table)!
        .flatMap((column) => (own.includes(column.name) ? [] : column.name))
        .sort();
    },

    async count(table) {
      const { rows } = await client.query<{ n: number }>(`SELECT count(*) AS n FROM ${table} ${where(table)}`);
      return rows[0]!.n;
    },

    async *rows(table, columns) {
      await client.query(
        `DECLARE copied NO SCROLL CURSOR FOR
         SELECT ${columns.map((column) => read(table, column)).join(', ')} FROM ${table} ${where(table)}
         ORDER BY ${COPIED_TABLES[table]}`,
      );
      for (;;) {
        const { rows } = await client.query<unknown[]>({
          text: `FETCH ${MAX_COPIED_ROWS} FROM copied`,
          rowMode: 'array',
        });
        if (rows.length === 0) break;
        yield rows.map((row) => row.map((value) => (typeof value === 'boolean' ? Number(value) : value) as Value));
      }
      await client.query('CLOSE copied');
    },

    async insert(table, columns, rows) {
      const own = table === 'transfers' ? OWN_COLUMNS.transfers! : [];
      const all = [...columns, ...own];
      const types = typesOf(table, all);
      if (table === 'transfers')
        await addPartitions(
          sql,
          rows.map((row) => Number(row[columns.indexOf('id')])),
        );
      const data = columns.indexOf('data');
      const whole = own.length === 0 ? rows : rows.map((row) => [...row, ...partsOf(String(row[data]))]);
      await client.query(
        `INSERT INTO ${table} (${all.join(', ')})
         SELECT * FROM unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})`,
        types.map((type, index) => whole.map((row) => inColumn(row[index]!, type))),
      );
    },

    async lastIds() {
      const ids = new Map<CopiedTable, number>();
      for (const table of withIds) {
        const { rows } = await client.query<{ id: number; isCalled: boolean }>(
          `SELECT last_value AS id, is_called AS "isCalled" FROM ${await sequenceOf(client, table)}`,
        );
        if (rows[0]!.isCalled) ids.set(table, rows[0]!.id);
      }
      return ids;
    },

    async setLastIds(ids) {
      for (const table of withIds) {
        const { rows } = await client.query<{ id: number }>(`SELECT coalesce(max(id), 0) AS id FROM ${table}`);
        const last = Math.max(rows[0]!.id, ids.get(table) ?? 0);
        if (last > 0) await client.query('SELECT setval($1, $2)', [await sequenceOf(client, table), last]);
      }
      // What new ids end with.
      await client.query(
        `SELECT setval('transfer_numbers', greatest((SELECT max(id % ${IDS_PER_DAY}) FROM transfers), 1))`,
      );
    },

    async commit() {
      await client.query('COMMIT');
    },

    // A transaction that was not committed ends with its connection.
    [Symbol.asyncDispose]: () => client.end(),
  };
}

async function readColumns(client: pg.Client): Promise<Map<string, Column[]>> {
  const { rows } = await client.query<Column & { table: string }>(
    `SELECT table_name AS table, column_name AS name, data_type AS type, is_identity = 'YES' AS "isIdentity"
     FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ANY($1::text[])`,
    [TABLE_NAMES],
  );
  return Map.groupBy(rows, ({ table }) => table);
}

async function sequenceOf(client: pg.Client, table: CopiedTable): Promise<string> {
  const { rows } = await client.query<{ name: string }>("SELECT pg_get_serial_sequence($1, 'id') AS name", [table]);
  return rows[0]!.name;
}

const inColumn = (value: Value, type: ColumnType): unknown =>
  type === 'boolean' && value !== null ? value === 1 : value;

/** What {@link OWN_COLUMNS} keep of a transfer's data, in their order. */
function partsOf(data: string): Value[] {
  const { from, to, token, kind, tokenSymbol, tokenType } = JSON.parse(data) as Transfer;
  return [from, to, token, kind, tokenSymbol, tokenType].map((part) =>
    typeof part === 'string' ? withoutNul(part) : null,
  );
}
