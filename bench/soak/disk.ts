import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { openDatabase } from '../../src/store/database.ts';
import type { Position } from '../../src/store/pruning.ts';
import { openTables } from '../../src/store/tables.ts';

/** What a database that nobody uses any more holds. */
export interface Disk {
  /** Bytes of the file, for each transfer that was sent. */
  perTransfer: number;
  /** The same by table, indexes included, the largest first. */
  tables: { table: string; rows: number; perTransfer: number }[];
  /** The share of the file that is free for what comes next, once everything is older than what is remembered. */
  freed: number;
}

/** Bytes on disk, and what pruning gives back; forgets everything in the file. */
export function diskOf(file: string, transfers: number): Disk {
  const db = new Database(file);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const sizes = db.prepare<[], { name: string; bytes: number }>(
    `SELECT m.tbl_name AS name, sum(d.pgsize) AS bytes FROM dbstat d JOIN sqlite_schema m ON m.name = d.name
     GROUP BY m.tbl_name ORDER BY bytes DESC`,
  );
  const tables = sizes.all().map(({ name, bytes }) => {
    const { rows } = db.prepare<[], { rows: number }>(`SELECT count(*) AS rows FROM "${name}"`).get()!;
    return { table: name, rows, perTransfer: bytes / transfers };
  });
  db.close();
  return { perTransfer: statSync(file).size / transfers, tables, freed: pruneAll(file) };
}

function pruneAll(file: string): number {
  const { db, close } = openDatabase(file);
  const { pruning } = openTables(db);
  let at: Position | null = null;
  do at = pruning.step(Date.now() + 60_000, at);
  while (at);
  const pages = (name: string) => Number(db.pragma(name, { simple: true }));
  const freed = pages('freelist_count') / pages('page_count');
  close();
  return freed;
}
