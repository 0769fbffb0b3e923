import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { documentedTables, type Tables } from '../documented-tables.ts';
import { openHere } from './opened.ts';

const ARCHITECTURE = readFileSync('docs/architecture.md', 'utf8');

/** The database's tables. A key's columns are never null, although SQLite does not say so of an `id`. */
function existing(): Tables {
  const db = openHere();
  const tables = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  const own = tables.filter((name) => !name.startsWith('sqlite_'));
  const columnsOf = (table: string) =>
    db.pragma(`table_xinfo(${table})`) as { name: string; notnull: 0 | 1; pk: number }[];
  const isNullable = ({ notnull, pk }: { notnull: 0 | 1; pk: number }) => notnull === 0 && pk === 0;
  return Object.fromEntries(
    own.map((table) => [table, Object.fromEntries(columnsOf(table).map((one) => [one.name, isNullable(one)]))]),
  );
}

it('lists every table of the database in docs/architecture.md, and no other', () => {
  const section = ARCHITECTURE.split('## Tables')[1]!.split('\n## ')[0]!;
  const listed = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, table]) => table!);
  expect(listed.toSorted()).toEqual(Object.keys(existing()).toSorted());
});

it('describes every column in docs/tables.md, and what null means exactly where a column may be null', () => {
  expect(documentedTables('sqlite')).toEqual(existing());
});
