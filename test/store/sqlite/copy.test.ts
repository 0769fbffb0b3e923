import { expect, it } from 'vitest';
import { COPIED_TABLES, TABLE_NAMES } from '../../../src/store/sql/copyable.ts';
import { openHere } from './opened.ts';

it('moves every table of the database, in the order of its key, and those first that others refer to', () => {
  const db = openHere();
  const tables = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  const keyOf = (table: string): string =>
    (db.pragma(`table_info(${table})`) as { name: string; pk: number }[])
      .filter(({ pk }) => pk > 0)
      .toSorted((a, b) => a.pk - b.pk)
      .map(({ name }) => name)
      .join(', ');
  expect(COPIED_TABLES).toEqual(Object.fromEntries(tables.map((table) => [table, keyOf(table)])));

  const early = TABLE_NAMES.flatMap((table, index) =>
    (db.pragma(`foreign_key_list(${table})`) as { table: string }[])
      .filter((other) => TABLE_NAMES.slice(index + 1).some((later) => later === other.table))
      .map((other) => `${table} before ${other.table}`),
  );
  expect(early).toEqual([]);
});
