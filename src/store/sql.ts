import { type Engine, TABLES, typeOf } from './schema.ts';

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
  /** On SQLite: runs a text once for each list of values. */
  each<Row>(text: string, lists: readonly (readonly Storable[])[]): Promise<Row[]>;
}

type Storable = string | number | null | Uint8Array;

/** A list is an array on Postgres. */
export type SqlValue = Storable | boolean | readonly Storable[];

type Statement = [texts: readonly string[], ...between: (SqlValue | Part)[]];

interface Text {
  statement: Statement;
}

/** A part of a statement, or its two texts where the engines need different ones. */
export type Part = Text | Record<Engine, Text>;

export const part = (...statement: Statement): Text => ({ statement });

/** A part that is a name, or another text without values. */
export const raw = (text: string): Text => part([text]);

export const joined = (pieces: readonly (SqlValue | Part)[], by: string): Text =>
  part(['', ...pieces.slice(1).map(() => by), ''], ...pieces);

/** Appends the values that the text needs. */
function textOf(engine: Engine, [texts, ...between]: Statement, values: unknown[]): string {
  let text = texts[0]!;
  for (const [index, piece] of between.entries()) {
    if (typeof piece === 'object' && piece && ('statement' in piece || 'sqlite' in piece)) {
      const { statement } = 'statement' in piece ? piece : piece[engine];
      text += textOf(engine, statement, values);
    } else {
      values.push(Array.isArray(piece) ? piece : storable(piece));
      // With a plain `?`, SQLite plans many statements again for each value, which takes longer than running them.
      text += engine === 'sqlite' ? '+?' : `$${values.length}`;
    }
    text += texts[index + 1]!;
  }
  return text;
}

/**
 * Flags are 0 and 1, and what is nested becomes JSON. Text has neither NUL nor half a character: Postgres refuses them,
 * and names from the chain may contain them.
 */
function storable(value: unknown): Storable {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'object' && value && !(value instanceof Uint8Array)) return JSON.stringify(value);
  if (typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'))) return (value ?? null) as Storable;
  return value.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** `count`: how many rows were read or changed. */
export interface Result {
  columns: readonly string[];
  rows: readonly unknown[][];
  count: number;
}

export function sqlOver(
  engine: Engine,
  execute: (statement: string, values: readonly unknown[]) => Promise<Result>,
): Sql {
  async function all<Row>(...statement: Statement): Promise<Row[]> {
    const values: unknown[] = [];
    const text = textOf(engine, statement, values);
    return rowsOf(text, await execute(text, values));
  }
  return {
    engine,
    all,
    async get<Row>(...statement: Statement) {
      return (await all<Row>(...statement))[0];
    },
    async list<Value>(...statement: Statement) {
      const values: Value[] = [];
      for (const row of await all<Record<string, Value>>(...statement)) values.push(Object.values(row)[0]!);
      return values;
    },
    async value<Value>(...statement: Statement) {
      const [row = {}] = await all<Record<string, Value>>(...statement);
      return Object.values(row)[0] ?? null;
    },
    async run(...statement) {
      const values: unknown[] = [];
      const { count } = await execute(textOf(engine, statement, values), values);
      return count;
    },
    async each<Row>(text: string, lists: readonly (readonly Storable[])[]) {
      const rows: Row[] = [];
      for (const values of lists) rows.push(...rowsOf<Row>(text, await execute(text, values)));
      return rows;
    },
  };
}

const fieldsByText = new Map<string, ReturnType<typeof fieldOf>[]>();

function rowsOf<Row>(text: string, { columns, rows }: Result): Row[] {
  const fields = fieldsByText.get(text) ?? columns.map(fieldOf);
  fieldsByText.set(text, fields);
  const read: Row[] = [];
  for (const values of rows) {
    const row: Record<string, unknown> = {};
    for (let at = 0; at < fields.length; at++) {
      const { name, parse } = fields[at]!;
      const value = values[at];
      row[name] = parse === null || value === null ? value : parse(value as never);
    }
    read.push(row as Row);
  }
  return read;
}

const PARSERS: Record<string, (value: never) => unknown> = { _json: JSON.parse, _flag: Boolean };

function fieldOf(column: string) {
  const [, name, form = ''] = /^(.*?)(_json|_flag)?$/.exec(column)!;
  return { name: nameOf(name!), parse: PARSERS[form] ?? null };
}

export const nameOf = (column: string): string =>
  column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The name of each column, by its field. */
const COLUMNS = new Map(TABLES.flatMap(({ types }) => [...types.keys()].map((column) => [nameOf(column), column])));

/** The condition that what precedes it is among some values: `id ${isIn(ids)}`. */
export function isIn(values: Iterable<Storable>): Part {
  const list = Array.from(values, storable);
  return { postgres: part`= ANY(${list})`, sqlite: part`IN (SELECT value FROM json_each(${JSON.stringify(list)}))` };
}

/**
 * The condition that a text column has a value, hidden from SQLite's planner: it would rather read all rows of a guild,
 * which may be a million, than the few that another condition names.
 */
export const alsoIs = (column: string, value: string): Part => part`${raw(column)} || '' = ${value}`;

/** A table of rows: `FROM ${rows(values, 'r (id bigint, guild_id text)')}`. Its columns are fields of the values. */
export function rows(values: Iterable<object>, definition: string): Part {
  const { table, fields, selected } = definitions.get(definition) ?? define(definition);
  const picked: object[] = [];
  for (const value of values as Iterable<Record<string, unknown>>) {
    const row: Record<string, Storable> = {};
    for (const [column, field] of fields) row[column] = storable(value[field]);
    picked.push(row);
  }
  const json = JSON.stringify(picked);
  return {
    postgres: part`json_to_recordset(${json}::json) AS ${raw(definition)}`,
    sqlite: part`(SELECT ${raw(selected)} FROM json_each(${json})) AS ${raw(table)}`,
  };
}

const definitions = new Map<string, ReturnType<typeof define>>();

function define(definition: string) {
  const [, table, columns] = /^(\w+) \((.*)\)$/.exec(definition)!;
  const names = [...columns!.matchAll(/\w+(?= )/g)].map(([column]) => column);
  const selected = names.map((column) => `value ->> '${column}' AS ${column}`).join(', ');
  const defined = { table: table!, fields: names.map((column) => [column, nameOf(column)] as const), selected };
  definitions.set(definition, defined);
  return defined;
}

/** `key`: a row with the same one is changed instead. `rest` follows the values. */
interface Inserting {
  key?: string;
  rest?: string;
}

/**
 * Inserts rows in their order. SQLite inserts one by one, which takes half as long as rows in one value; on Postgres
 * each would be a round trip.
 */
export async function insertAll<Returned>(
  sql: Sql,
  table: string,
  values: readonly object[],
  { key, rest = '' }: Inserting = {},
): Promise<Returned[]> {
  if (values.length === 0) return [];
  const columns = new Map<string, string>();
  for (const value of values) for (const field in value) columns.set(field, COLUMNS.get(field) ?? field);
  const inserted: Storable[][] = [];
  for (const value of values as readonly Record<string, unknown>[]) {
    const row: Storable[] = [];
    for (const field of columns.keys()) row.push(storable(value[field]));
    inserted.push(row);
  }
  const names = [...columns.values()].join(', ');
  const changes: string[] = [];
  for (const column of columns.values())
    if (key && !key.split(', ').includes(column)) changes.push(`${column} = excluded.${column}`);
  const end = `${key ? `ON CONFLICT (${key}) DO UPDATE SET ${changes.join(', ')}` : ''} ${rest}`;
  if (sql.engine === 'sqlite') {
    const places = Array(columns.size).fill('?').join(', ');
    return sql.each(`INSERT INTO ${table} (${names}) VALUES (${places}) ${end}`, inserted);
  }
  const lists = [...columns.values()].map((column, index) => {
    return part`${inserted.map((row) => row[index]!)}::${raw(`${typeOf(table, column)}[]`)}`;
  });
  return sql.all<Returned>`
    INSERT INTO ${raw(table)} (${raw(names)}) SELECT ${raw(names)} FROM unnest(${joined(lists, ', ')}) WITH ORDINALITY
      AS r (${raw(names)}, place) ORDER BY place ${raw(end)}`;
}

export const insert = async (sql: Sql, table: string, row: object): Promise<number> =>
  (await insertAll<{ id: number }>(sql, table, [row], { rest: 'RETURNING id' }))[0]!.id;

export async function update(sql: Sql, table: string, where: object, changed: object): Promise<number> {
  if (Object.keys(changed).length === 0) return 0;
  return sql.run`UPDATE ${raw(table)} SET ${equal(changed, ', ')} WHERE ${equal(where, ' AND ')}`;
}

export const remove = (sql: Sql, table: string, where: object): Promise<number> =>
  sql.run`DELETE FROM ${raw(table)} WHERE ${equal(where, ' AND ')}`;

function equal(fields: object, by: string): Text {
  const texts: string[] = [];
  for (const field of Object.keys(fields))
    texts.push(`${texts.length === 0 ? '' : by}${COLUMNS.get(field) ?? field} = `);
  return part([...texts, ''], ...Object.values(fields).map(storable));
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
