import type { Database } from 'better-sqlite3';
import { erasureTable } from './erasure.ts';
import { figuresTable } from './figures.ts';
import { inboxTable } from './inbox.ts';
import { labelsTable } from './labels.ts';
import { ledgerTable } from './ledger.ts';
import { outboxTable } from './outbox.ts';
import { projectsTable } from './projects.ts';
import { pruningTable } from './pruning.ts';
import { reportsTable } from './reports.ts';
import { routingTable } from './routing.ts';
import { serversTable } from './servers.ts';
import { silenceTable } from './silence.ts';
import { subscriptionsTable } from './subscriptions.ts';

/** Every table group over one open database; each method is one whole transaction. Times come as arguments. */
export function openTables(db: Database) {
  return {
    inbox: inboxTable(db),
    routing: routingTable(db),
    pruning: pruningTable(db, () => performance.now()),
    outbox: outboxTable(db),
    subscriptions: subscriptionsTable(db),
    servers: serversTable(db),
    labels: labelsTable(db),
    projects: projectsTable(db),
    erasure: erasureTable(db),
    silence: silenceTable(db),
  };
}

/** The groups that only read, and may take long: a connection of their own, in a thread of its own, serves them. */
export function openReadings(db: Database) {
  return { reports: reportsTable(db), ledger: ledgerTable(db), figures: figuresTable(db) };
}

/** The table groups as the database's own threads see them. */
export type Tables = ReturnType<typeof openTables> & ReturnType<typeof openReadings>;

/** The table groups as everybody else sees them: the same methods, each a promise. */
export type Store = {
  [Group in keyof Tables]: {
    [Method in keyof Tables[Group]]: Tables[Group][Method] extends (...args: infer A) => infer R
      ? (...args: A) => Promise<R>
      : never;
  };
};
