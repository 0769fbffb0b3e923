import { type Engine, typeOf } from './schema.ts';

/**
 * One transaction's statements, in SQL that both engines understand: times are milliseconds, flags 0 and 1.
 *
 * A statement is a template: what stands in it is a value, unless it is a {@link Part}. Its columns become fields in
 * camelCase. `_json` at a column's end parses it and `_flag` makes it a boolean: `data AS transfer_json` is `transfer`.
 */
export interface Sql {
  readonly engine: Engine;
  all<Row>(...statement: Statement): Promise<Row[]>;
  get<Row>(...statement: Statement): Promise<Row | undefined>;
  /** The first column of each row. */
  list<Value>(...statement: Statement): Promise<Value[]>;
  /** The first column of the first row; null: there is no row. */
  value<Value>(...statement: Statement): Promise<Value | null>;
  /** Returns how many rows changed. */
  run(...statement: Statement): Promise<number>;
  /** Runs a statement once for each list of values. */
  each<Row>(texts: readonly string[], lists: readonly (readonly SqlValue[])[]): Promise<Row[]>;
}

type Scalar = string | number | boolean | null | Uint8Array;

/** A list is for {@link isIn}. */
export type SqlValue = Scalar | readonly Scalar[];

type Storable = Exclude<SqlValue, boolean>;

type Statement = [texts: readonly string[], ...between: Piece[]];

export interface Part {
  statement: Statement;
}

type Piece = SqlValue | Part | ((engine: Engine) => Part);

export const part = (...statement: Statement): Part => ({ statement });

/** A part that is a name, or another text without values. */
export const raw = (text: string): Part => part([text]);

export const joined = (pieces: readonly Piece[], by: string): Part =>
  part(['', ...pieces.slice(1).map(() => by), ''], ...pieces);

function textOf(engine: Engine, [texts, ...between]: Statement, values: Storable[]): string {
  let text = texts[0]!;
  for (const [index, given] of between.entries()) {
    const piece = typeof given === 'function' ? given(engine) : given;
    if (typeof piece === 'object' && piece && 'statement' in piece) text += textOf(engine, piece.statement, values);
    else {
      values.push(storable(piece));
      text += engine === 'sqlite' ? '?' : `$${values.length}`;
    }
    text += texts[index + 1]!;
  }
  return text;
}

/** `count`: how many rows were read or changed. */
export interface Result {
  columns: readonly string[];
  rows: readonly unknown[][];
  count: number;
}

export function sqlOver(
  engine: Engine,
  execute: (statement: string, values: readonly Storable[]) => Promise<Result>,
): Sql {
  const start = (statement: Statement) => {
    const values: Storable[] = [];
    const text = textOf(engine, statement, values);
    return { text, result: execute(text, values) };
  };
  function rowsOf<Row>(text: string, { columns, rows }: Result): Row[] {
    const fields = fieldsByText.get(text) ?? columns.map(fieldOf);
    fieldsByText.set(text, fields);
    return rows.map((row) => {
      const read: Record<string, unknown> = {};
      for (let at = 0; at < fields.length; at++) {
        const { name, parse } = fields[at]!;
        const value = row[at];
        read[name] = parse === null || value === null ? value : parse(value);
      }
      return read as Row;
    });
  }
  async function all<Row>(...statement: Statement): Promise<Row[]> {
    const { text, result } = start(statement);
    return rowsOf<Row>(text, await result);
  }
  async function each<Row>(texts: readonly string[], lists: readonly (readonly SqlValue[])[]): Promise<Row[]> {
    const text = textOf(engine, [texts, ...texts.slice(1).map(() => null)], []);
    const found: Row[] = [];
    for (const values of lists) found.push(...rowsOf<Row>(text, await execute(text, values.map(storable))));
    return found;
  }
  const list = async <Value>(...statement: Statement) =>
    (await all<Record<string, Value>>(...statement)).map((row) => Object.values(row)[0]!);
  return {
    engine,
    all,
    get: async <Row>(...statement: Statement) => (await all<Row>(...statement))[0],
    each,
    list,
    value: async <Value>(...statement: Statement) => (await list<Value>(...statement))[0] ?? null,
    run: async (...statement) => (await start(statement).result).count,
  };
}

const PARSERS: Record<string, (value: unknown) => unknown> = {
  _json: (text) => JSON.parse(text as string),
  _flag: Boolean,
};

const fieldsByText = new Map<string, ReturnType<typeof fieldOf>[]>();

function fieldOf(column: string) {
  const [, name, form = ''] = /^(.*?)(_json|_flag)?$/.exec(column)!;
  return { name: nameOf(name!), parse: PARSERS[form] ?? null };
}

export const nameOf = (column: string): string =>
  column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const columnOf = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Text has neither NUL nor half a character: Postgres refuses them, and names from the chain may contain them. */
function storable(value: SqlValue): Storable {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'object' && value && !(value instanceof Uint8Array)) return value.map(storable) as Storable;
  if (typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'))) return value;
  return value.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** The condition that what precedes it is in a list: `id ${isIn(ids)}`. */
export const isIn = (list: SqlValue) => (engine: Engine) =>
  engine === 'postgres' ? part`= ANY(${list})` : part`IN (SELECT value FROM json_each(${list}))`;

/**
 * The condition that a text column has a value, hidden from SQLite's planner: it would rather read all rows of a guild,
 * which may be a million, than the few that another condition names.
 */
export const alsoIs = (column: string, value: string): Part => part`${raw(column)} || '' = ${value}`;

/** A table of rows: `FROM ${rows(values, 'r (id bigint, guild_id text)')}`. Its columns are fields of the values. */
export const rows = (values: readonly object[], definition: string) => (engine: Engine) => {
  const [, name, columns] = /^(\w+) \((.*)\)$/.exec(definition)!;
  const names = columns!.split(', ').map((column) => column.split(' ')[0]!);
  const fields = names.map((column) => [column, nameOf(column)] as const);
  const picked = (row: object) =>
    Object.fromEntries(fields.map(([column, field]) => [column, storable((row as Record<string, SqlValue>)[field]!)]));
  const json = JSON.stringify(values.map(picked));
  if (engine === 'postgres') return part`json_to_recordset(${json}::json) AS ${raw(definition)}`;
  const selected = names.map((column) => `value ->> '${column}' AS ${column}`).join(', ');
  return part`(SELECT ${raw(selected)} FROM json_each(${json})) AS ${raw(name!)}`;
};

const fieldsOfAll = (values: readonly object[]): string[] => [...new Set(values.flatMap(Object.keys))];

/**
 * Inserts rows in their order; what is nested becomes JSON. `rest` follows the values. SQLite inserts one by one, which
 * takes half as long as rows in one value; on Postgres each would be a round trip.
 */
export async function insertAll<Returned>(
  sql: Sql,
  table: string,
  values: readonly object[],
  rest = '',
): Promise<Returned[]> {
  const fields = fieldsOfAll(values);
  const columns = fields.map(columnOf);
  const names = raw(columns.join(', '));
  const inserted = values.map((row) => fields.map((field) => stored((row as Record<string, unknown>)[field])));
  if (sql.engine === 'postgres' && inserted.length > 0) {
    const lists = columns.map((column, index) => {
      return part`${inserted.map((row) => row[index]) as SqlValue}::${raw(`${typeOf(table, column)}[]`)}`;
    });
    return sql.all<Returned>`
      INSERT INTO ${raw(table)} (${names}) SELECT ${names} FROM unnest(${joined(lists, ', ')}) WITH ORDINALITY
        AS r (${names}, place) ORDER BY place ${raw(rest)}`;
  }
  const texts = [
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (`,
    ...columns.slice(1).map(() => ', '),
    `) ${rest}`,
  ];
  return sql.each<Returned>(texts, inserted);
}

const stored = (value: unknown): SqlValue =>
  typeof value === 'object' && value && !(value instanceof Uint8Array)
    ? JSON.stringify(value)
    : ((value ?? null) as SqlValue);

export const insert = async (sql: Sql, table: string, row: object): Promise<number> =>
  (await insertAll<{ id: number }>(sql, table, [row], 'RETURNING id'))[0]!.id;

const equal = (fields: object, by: string): Part =>
  joined(
    Object.entries(fields).map(([field, value]) => part`${raw(columnOf(field))} = ${stored(value)}`),
    by,
  );

export const update = async (sql: Sql, table: string, where: object, changed: object): Promise<number> =>
  Object.keys(changed).length === 0
    ? 0
    : sql.run`UPDATE ${raw(table)} SET ${equal(changed, ', ')} WHERE ${equal(where, ' AND ')}`;

export const remove = (sql: Sql, table: string, where: object): Promise<number> =>
  sql.run`DELETE FROM ${raw(table)} WHERE ${equal(where, ' AND ')}`;

/** `rest`: such as which of the rows with the same `key` it does not change. */
export function upsertAll<Returned>(
  sql: Sql,
  table: string,
  key: string,
  values: readonly object[],
  rest = '',
): Promise<Returned[]> {
  const columns = fieldsOfAll(values).map(columnOf);
  const changed = columns.filter((column) => !key.split(', ').includes(column));
  const changes = changed.map((column) => `${column} = excluded.${column}`).join(', ');
  return insertAll(sql, table, values, `ON CONFLICT (${key}) DO UPDATE SET ${changes} ${rest}`);
}

/**
 * `report`: reads for people, which may take long. `read`: reads that a delivery or a message waits for. `receive`:
 * stores deliveries, before other writes. `write`: is on the disk once its promise resolves. `unsynced`: does not wait
 * for the disk, because what a power failure undoes is done again.
 */
export type Mode = 'report' | 'read' | 'receive' | 'write' | 'unsynced';

/** A method of the port: one transaction. */
export interface Query<Args extends unknown[], Result> {
  mode: Mode;
  run(sql: Sql, ...args: Args): Promise<Result>;
}

const inMode =
  (mode: Mode) =>
  <Args extends unknown[], Result>(run: (sql: Sql, ...args: Args) => Promise<Result>): Query<Args, Result> => ({
    mode,
    run,
  });

export const report = inMode('report');
export const read = inMode('read');
export const receive = inMode('receive');
export const write = inMode('write');
export const unsynced = inMode('unsynced');

export type QueriesOf<Group> = {
  [Method in keyof Group]: Group[Method] extends (...args: infer Args) => Promise<infer Result>
    ? Query<Args, Result>
    : never;
};
