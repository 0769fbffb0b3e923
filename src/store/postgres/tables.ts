import type { Store } from '../store.ts';
import { activityReader } from './activity.ts';
import { channelStates } from './channels.ts';
import type { Connection } from './connection.ts';
import { deadLetters } from './deadletters.ts';
import { erasureTable } from './erasure.ts';
import { figuresTable } from './figures.ts';
import { inboxTable } from './inbox.ts';
import { labelsTable } from './labels.ts';
import { historyTable, tokensTable } from './ledger.ts';
import { outboxTable } from './outbox.ts';
import { projectsTable } from './projects.ts';
import { pruningTable } from './pruning.ts';
import { quarantineTable } from './quarantine.ts';
import { routingTable } from './routing.ts';
import { auditTable, confirmationsTable, settingsTable } from './servers.ts';
import { silenceTable } from './silence.ts';
import { storyReader } from './stories.ts';
import { subscriptionsTable } from './subscriptions.ts';
import { workTimeTable } from './work-time.ts';

/** The port's methods over a connection. */
export function openTables(db: Connection): Store {
  const { workTime, forgottenBefore, setForgottenBefore } = workTimeTable(db);
  return {
    inbox: inboxTable(db),
    quarantine: quarantineTable(db),
    routing: routingTable(db),
    outbox: outboxTable(db),
    deadLetters: deadLetters(db),
    channels: channelStates(db),
    subscriptions: subscriptionsTable(db),
    labels: labelsTable(db),
    guilds: settingsTable(db),
    audit: auditTable(db),
    confirmations: confirmationsTable(db),
    projects: projectsTable(db),
    history: { ...storyReader(db), ...activityReader(db), ...historyTable(db) },
    silence: silenceTable(db),
    tokens: tokensTable(db),
    metrics: figuresTable(db),
    retention: { ...pruningTable(db), forgottenBefore, setForgottenBefore },
    workTime,
    erasure: erasureTable(db),
  };
}
