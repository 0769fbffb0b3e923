import type { Store } from '../store.ts';
import { activityReader } from './activity.ts';
import { channelStates } from './channels.ts';
import type { Connection } from './connection.ts';
import { deadLetters } from './dead-letters.ts';
import { erasureTable } from './erasure.ts';
import { auditTable, confirmationsTable, guildsTable } from './guilds.ts';
import { historyTable, tokensTable } from './history.ts';
import { inboxTable } from './inbox.ts';
import { labelsTable } from './labels.ts';
import { metricsTable } from './metrics.ts';
import { outboxTable } from './outbox.ts';
import { projectsTable } from './projects.ts';
import { quarantineTable } from './quarantine.ts';
import { retentionTable } from './retention.ts';
import { routingTable } from './routing.ts';
import { silenceTable } from './silence.ts';
import { subscriptionsTable } from './subscriptions.ts';
import { transferHistoryReader } from './transfer-history.ts';
import { uptimeTable } from './uptime.ts';

/** The port's methods over a connection. */
export function openTables(db: Connection): Store {
  const { uptime, prunedBefore, setPrunedBefore } = uptimeTable(db);
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
    history: { ...transferHistoryReader(db), ...activityReader(db), ...historyTable(db) },
    silence: silenceTable(db),
    tokens: tokensTable(db),
    metrics: metricsTable(db),
    retention: { ...retentionTable(db), prunedBefore, setPrunedBefore },
    uptime,
    erasure: erasureTable(db),
  };
}
