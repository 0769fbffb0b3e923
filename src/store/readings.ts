import type { Database } from 'better-sqlite3';
import { figuresTable } from './figures.ts';
import { ledgerTable } from './ledger.ts';
import { reportsTable } from './reports.ts';

/** The groups that only read, and may take long: a connection of their own, in a thread of its own, serves them. */
export function openReadings(db: Database) {
  return { reports: reportsTable(db), ledger: ledgerTable(db), figures: figuresTable(db) };
}
