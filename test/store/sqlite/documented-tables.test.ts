import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openHere } from './opened.ts';

const ARCHITECTURE = readFileSync('docs/architecture.md', 'utf8');

it('lists every table of the database in docs/architecture.md, and no other', () => {
  const rows = openHere().prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const tables = rows.map(({ name }) => name).filter((name) => !name.startsWith('sqlite_'));
  const section = ARCHITECTURE.split('## Tables')[1]!.split('\n## ')[0]!;
  const listed = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, table]) => table!);
  expect(listed.toSorted()).toEqual(tables.toSorted());
});
