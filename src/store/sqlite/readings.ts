import type { Database } from 'better-sqlite3';
import { activityReader } from './activity.ts';
import { figuresTable } from './figures.ts';
import { ledgerTable } from './ledger.ts';
import { silenceReader } from './silence.ts';
import { storyReader } from './stories.ts';

/** The groups that only read, and may take long: a connection of their own, in a thread of its own, serves them. */
export function openReadings(db: Database) {
  return {
    reports: { ...storyReader(db), ...activityReader(db), ...silenceReader(db) },
    ledger: ledgerTable(db),
    figures: figuresTable(db),
  };
}
