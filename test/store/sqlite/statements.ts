import Database from 'better-sqlite3';
import { MIGRATIONS } from '../../../src/store/sqlite/migrations.ts';
import { openReadMethods } from '../../../src/store/sqlite/read-methods.ts';
import { openTables } from '../../../src/store/sqlite/tables.ts';

/**
 * Prints the columns of every statement that the store prepares, by the place where that happens (`file:line`). A
 * program of its own, because Node.js runs the source as it is: its stack traces name the lines of the files.
 */
const db = new Database(':memory:');
for (const sql of MIGRATIONS) db.exec(sql);
const found: Record<string, string[]> = {};
const prepare = db.prepare.bind(db);
db.prepare = ((sql: string) => {
  const statement = prepare(sql);
  const [, place] = /src\/store\/sqlite\/(\S+:\d+):\d+/.exec(new Error('here').stack!)!;
  if (statement.reader) found[place!] = statement.columns().map(({ name }) => name);
  return statement;
}) as typeof db.prepare;
openTables(db);
openReadMethods(db);
console.log(JSON.stringify(found));
