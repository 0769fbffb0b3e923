import { createHash } from 'node:crypto';
import { UserError } from '../errors.ts';
import { TABLES } from './schema.ts';
import { insertAll, joined, type Mode, nameOf, type Part, part, raw, remove, type Sql, type SqlValue } from './sql.ts';

/** A stopped installation's database, which no other process can use meanwhile. */
export interface Copyable extends AsyncDisposable {
  /** In messages, without a password. */
  name: string;
  run<T>(mode: Mode, work: (sql: Sql) => Promise<T>): Promise<T>;
}

export type CopyReport = (done: number, total: number, table: string) => void;

const MAX_ROWS = 500;

type Row = Record<string, SqlValue>;
type Table = (typeof TABLES)[number];

/** Leaves out the values that belong to a database and not to what is in it. */
const rowsOf = ({ name }: Table): Part =>
  raw(name === 'meta' ? "(SELECT * FROM meta WHERE key NOT IN ('schema-version', 'worker')) AS meta" : name);

/**
 * Copies every table into an empty database in one transaction, then reads every row back and compares it. Throws an
 * Error with a message for the operator when the target is not empty or a table differs.
 */
export const copyDatabase = (
  source: Copyable,
  target: Copyable,
  report: CopyReport,
): Promise<{ rows: number; tables: number }> =>
  source.run('report', (from) =>
    target.run('write', async (to) => {
      for (const table of TABLES) await assertEmpty(to, table, target.name);
      let rows = 0;
      for (const table of TABLES) rows += await count(from, table);
      let done = 0;
      for (const table of TABLES) {
        const step = (some: readonly Row[]) => {
          done += some.length;
          report(done, 2 * rows, table.name);
        };
        const sent = await readAll(from, table, async (some) => {
          await insertAll(to, table.name, some);
          step(some);
        });
        const kept = await readAll(to, table, async (some) => step(some));
        if (sent !== kept) {
          throw new Error(
            `${table.name} is not the same in ${target.name}: ${sent} became ${kept}. Nothing was changed there.`,
          );
        }
        if (table.key[0] === 'id') await continueIds(from, to, table.name);
      }
      return { rows, tables: TABLES.length };
    }),
  );

const count = async (sql: Sql, table: Table): Promise<number> =>
  (await sql.value<number>`SELECT count(*) FROM ${rowsOf(table)}`)!;

async function assertEmpty(sql: Sql, table: Table, name: string): Promise<void> {
  const rows = await count(sql, table);
  if (rows === 0) return;
  throw new UserError(
    `${name} is not empty: ${table.name} has ${rows} ${rows === 1 ? 'row' : 'rows'}. Nothing was changed. ` +
      'Choose an empty database.',
  );
}

async function readAll(sql: Sql, table: Table, take: (rows: readonly Row[]) => Promise<void>): Promise<string> {
  const hash = createHash('sha256');
  const key = raw(table.key.join(', '));
  let total = 0;
  for (let last: Row | null = null; ; ) {
    const values: SqlValue[] = last ? table.key.map((column) => last![nameOf(column)]!) : [];
    const after = last ? part`WHERE (${key}) > (${joined(values, ', ')})` : raw('');
    const rows: Row[] = await sql.all`SELECT * FROM ${rowsOf(table)} ${after} ORDER BY ${key} LIMIT ${MAX_ROWS}`;
    total += rows.length;
    const columns = Object.keys(rows[0] ?? {}).sort();
    for (const row of rows) hash.update(JSON.stringify(columns.map((column) => printed(row[column]!))));
    await take(rows);
    if (rows.length < MAX_ROWS) return `${total} rows, sha256 ${hash.digest('hex').slice(0, 16)}`;
    last = rows.at(-1)!;
  }
}

const printed = (value: SqlValue): unknown =>
  value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value;

/** No id is given twice: new ones follow the highest one that was ever given. */
async function continueIds(from: Sql, to: Sql, table: string): Promise<void> {
  const [name, sequence] = [{ name: table }, raw(`${table}_id_seq`)];
  const id =
    from.engine === 'sqlite'
      ? await from.value<number>`SELECT seq FROM sqlite_sequence WHERE name = ${table}`
      : await from.value<number>`SELECT CASE WHEN is_called THEN last_value END FROM ${sequence}`;
  if (id === null) return;
  if (to.engine === 'postgres') await to.run`SELECT setval('${sequence}', ${id})`;
  else {
    await remove(to, 'sqlite_sequence', name);
    await insertAll(to, 'sqlite_sequence', [{ ...name, seq: id }]);
  }
}
