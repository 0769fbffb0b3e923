import { expect, it } from 'vitest';
import { TABLES } from '../../../src/store/schema.ts';
import { openHere } from './opened.ts';

it('knows every table of the database with its key, and those first that others refer to', () => {
  const db = openHere();
  const names = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  const keyOf = (table: string): string[] =>
    (db.pragma(`table_info(${table})`) as { name: string; pk: number }[])
      .filter(({ pk }) => pk > 0)
      .toSorted((a, b) => a.pk - b.pk)
      .map(({ name }) => name);
  const all = TABLES;
  expect(Object.fromEntries(all.map(({ name, key }) => [name, key]))).toEqual(
    Object.fromEntries(names.map((name) => [name, keyOf(name)])),
  );

  const early = all.flatMap(({ name }, index) =>
    (db.pragma(`foreign_key_list(${name})`) as { table: string }[])
      .filter((other) => all.slice(index + 1).some((later) => later.name === other.table))
      .map((other) => `${name} before ${other.table}`),
  );
  expect(early).toEqual([]);
});
