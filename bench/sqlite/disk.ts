import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { type Row, short } from '../table.ts';
import { pruneAll } from './pruning.ts';

/** The tables that are shown one by one: the largest. */
const TABLES = 8;

/**
 * Bytes on disk per transfer of an unused database, by table with its indexes, and the share of the file that is free
 * once everything is older than the retention time. Deletes all of its data.
 */
export function diskRows(file: string, transfers: number): Row[] {
  const db = new Database(file);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const sizes = db.prepare<[], { name: string; bytes: number }>(
    `SELECT m.tbl_name AS name, sum(d.pgsize) AS bytes FROM dbstat d JOIN sqlite_schema m ON m.name = d.name
     GROUP BY m.tbl_name ORDER BY bytes DESC LIMIT ${TABLES}`,
  );
  const tables = sizes.all().map(({ name, bytes }) => {
    const { rows } = db.prepare<[], { rows: number }>(`SELECT count(*) AS rows FROM "${name}"`).get()!;
    return { table: name, rows, 'bytes a transfer': short(bytes / transfers) };
  });
  db.close();
  const row = (table: string, value: number): Row => ({ table, rows: '', 'bytes a transfer': short(value) });
  const whole = row('the whole file', statSync(file).size / transfers);
  return [whole, ...tables, row('share that pruning frees', freedByPruning(file))];
}

function freedByPruning(file: string): number {
  const { db, close } = openDatabase(file);
  pruneAll(db);
  const pages = (name: string) => Number(db.pragma(name, { simple: true }));
  const freed = pages('freelist_count') / pages('page_count');
  close();
  return freed;
}
