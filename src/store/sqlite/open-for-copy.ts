import { existsSync } from 'node:fs';
import {
  COPIED_TABLES,
  type CopiedTable,
  type CopyableDatabase,
  MAX_COPIED_ROWS,
  type Value,
  withoutNul,
} from '../sql/copyable.ts';
import { openDatabase } from './database.ts';

/** Opens a file to be moved or to be filled; throws an Error with a message for the operator while a bot uses it. */
export function openFileForCopy(file: string, { isSource }: { isSource: boolean }): CopyableDatabase {
  if (isSource && !existsSync(file)) throw new Error(`There is no database at ${file}.`);
  const { db, close } = openDatabase(file);
  db.exec('BEGIN IMMEDIATE');
  const select = (table: CopiedTable, columns: readonly string[]) =>
    db.prepare<[], Value[]>(`SELECT ${columns.join(', ')} FROM ${table} ORDER BY ${COPIED_TABLES[table]}`).raw();
  const autoincremented = new Set(
    db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE sql LIKE '%AUTOINCREMENT%'").pluck().all(),
  );

  return {
    name: file,

    async columns(table) {
      // Computed columns are not among these.
      return db
        .prepare<[], { name: string }>(`PRAGMA table_info(${table})`)
        .all()
        .map(({ name }) => name)
        .sort();
    },

    async count(table) {
      return db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()!;
    },

    async *rows(table, columns) {
      let some: Value[][] = [];
      for (const row of select(table, columns).iterate()) {
        some.push(row.map((value) => (typeof value === 'string' ? withoutNul(value) : value)));
        if (some.length < MAX_COPIED_ROWS) continue;
        yield some;
        some = [];
      }
      if (some.length > 0) yield some;
    },

    async insert(table, columns, rows) {
      const places = columns.map(() => '?').join(', ');
      const put = db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`);
      for (const row of rows) put.run(...row);
    },

    async lastIds() {
      const found = db.prepare<[], { name: string; seq: number }>('SELECT name, seq FROM sqlite_sequence').all();
      return new Map(found.map(({ name, seq }) => [name as CopiedTable, seq]));
    },

    async setLastIds(ids) {
      const drop = db.prepare('DELETE FROM sqlite_sequence WHERE name = ?');
      const put = db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
      for (const [table, id] of ids) {
        if (!autoincremented.has(table)) continue;
        drop.run(table);
        put.run(table, id);
      }
    },

    async commit() {
      db.exec('COMMIT');
    },

    async [Symbol.asyncDispose]() {
      if (db.inTransaction) db.exec('ROLLBACK');
      close();
    },
  };
}
