import type { Database } from 'better-sqlite3';
import { ledgerEpochs } from './epochs.ts';
import { erasureTable } from './erasure.ts';
import { inboxTable } from './inbox.ts';
import { labelsTable } from './labels.ts';
import { outboxTable } from './outbox.ts';
import { projectsTable } from './projects.ts';
import { pruningTable } from './pruning.ts';
import type { openReadings } from './readings.ts';
import { rhythmsTable } from './rhythms.ts';
import { routingTable } from './routing.ts';
import { serversTable } from './servers.ts';
import { silenceTable } from './silence.ts';
import { subscriptionsTable } from './subscriptions.ts';

/** The table groups that write, over one open database; each method is one whole transaction. Times come as arguments. */
export function openTables(db: Database) {
  const epochs = ledgerEpochs(db);
  return {
    inbox: inboxTable(db),
    routing: routingTable(db, epochs),
    pruning: pruningTable(db, () => performance.now()),
    epochs: { takeDown: epochs.takeDown },
    outbox: outboxTable(db, epochs),
    subscriptions: subscriptionsTable(db),
    servers: serversTable(db),
    labels: labelsTable(db),
    projects: projectsTable(db),
    erasure: erasureTable(db, () => performance.now()),
    silence: silenceTable(db),
    rhythms: rhythmsTable(db),
  };
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
