import Database from 'better-sqlite3';
import { MIGRATIONS } from '../../../src/store/sqlite/migrations.ts';
import { openReadMethods } from '../../../src/store/sqlite/read-methods.ts';
import { openTables } from '../../../src/store/sqlite/tables.ts';
import type { Columns } from '../declared-rows.ts';

/**
 * Prints the columns of every statement that the store prepares, by the place where that happens (`file:line`). A
 * program of its own, because Node.js runs the source as it is: its stack traces name the lines of the files.
 */
const db = new Database(':memory:');
for (const sql of MIGRATIONS) db.exec(sql);
const found: Record<string, Columns> = {};
const isNullable = (table: string, column: string): boolean => {
  const columns = db.pragma(`table_xinfo(${table})`) as { name: string; notnull: 0 | 1; pk: number }[];
  const { notnull, pk } = columns.find(({ name }) => name === column)!;
  return notnull === 0 && pk === 0;
};
const prepare = db.prepare.bind(db);
db.prepare = ((sql: string) => {
  const statement = prepare(sql);
  const [, place] = /src\/store\/sqlite\/(\S+:\d+):\d+/.exec(new Error('here').stack!)!;
  if (!statement.reader) return statement;
  const columns = statement
    .columns()
    .map(({ name, table, column }) => [name, table !== null && isNullable(table, column!)]);
  found[place!] = Object.fromEntries(columns) as Columns;
  return statement;
}) as typeof db.prepare;
openTables(db);
openReadMethods(db);
console.log(JSON.stringify(found));
