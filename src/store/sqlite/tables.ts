import type { Database } from 'better-sqlite3';
import { channelStates } from './channels.ts';
import { deadLetters } from './dead-letters.ts';
import { erasureTable } from './erasure.ts';
import { auditTable, confirmationsTable, guildsTable } from './guilds.ts';
import { inboxTable } from './inbox.ts';
import { labelsTable } from './labels.ts';
import type { MethodsOn } from './methods.ts';
import { outboxTable } from './outbox.ts';
import { projectsTable } from './projects.ts';
import { quarantineTable } from './quarantine.ts';
import { retentionTable } from './retention.ts';
import { routingTable } from './routing.ts';
import { silenceTable } from './silence.ts';
import { subscriptionsTable } from './subscriptions.ts';
import { uptimeWriter } from './uptime.ts';

/** The port's methods over the connection that writes; `elapsed` returns milliseconds. */
export function openTables(db: Database, elapsed: () => number = () => performance.now()) {
  const { report } = silenceTable(db);
  const { uptime, setPrunedBefore } = uptimeWriter(db);
  return {
    inbox: inboxTable(db),
    quarantine: quarantineTable(db),
    routing: routingTable(db),
    outbox: outboxTable(db),
    deadLetters: deadLetters(db),
    channels: channelStates(db),
    subscriptions: subscriptionsTable(db),
    labels: labelsTable(db),
    guilds: guildsTable(db),
    audit: auditTable(db),
    confirmations: confirmationsTable(db),
    projects: projectsTable(db),
    silence: { report },
    retention: { ...retentionTable(db, elapsed), setPrunedBefore },
    uptime,
    erasure: erasureTable(db, elapsed),
  } satisfies MethodsOn<'read now' | 'write'>;
}
