import type { Database } from 'better-sqlite3';
import { activityReader } from './activity.ts';
import { figuresTable } from './figures.ts';
import { historyTable, tokensTable } from './ledger.ts';
import { silenceReader } from './silence.ts';
import { storyReader } from './stories.ts';
import type { Tables } from './tables.ts';

/** What the port does over a connection that only reads, and may take long. */
export function openReadings(db: Database) {
  return {
    history: { ...storyReader(db), ...activityReader(db), ...historyTable(db) },
    silence: silenceReader(db),
    tokens: tokensTable(db),
    metrics: figuresTable(db),
  } satisfies Pick<Tables, 'history' | 'tokens' | 'metrics'> & { silence: Omit<Tables['silence'], 'report'> };
}
