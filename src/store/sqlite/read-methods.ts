import type { Database } from 'better-sqlite3';
import { activityReader } from './activity.ts';
import { channelStates } from './channels.ts';
import { deadLetters } from './dead-letters.ts';
import { erasureReader } from './erasure.ts';
import { auditTable, guildsTable } from './guilds.ts';
import { historyTable, tokensTable } from './history.ts';
import { inboxTable } from './inbox.ts';
import { labelsTable } from './labels.ts';
import type { MethodsOn } from './methods.ts';
import { metricsTable } from './metrics.ts';
import { projectsTable } from './projects.ts';
import { quarantineTable } from './quarantine.ts';
import { silenceReader } from './silence.ts';
import { subscriptionsTable } from './subscriptions.ts';
import { transferHistoryReader } from './transfer-history.ts';
import { uptimeReader } from './uptime.ts';

type ReadMethods = MethodsOn<'read'>;

/** The port's methods that run over the read-only connection, where long reads are fine. */
export function openReadMethods(db: Database) {
  const { list, get, tokenMutes, watching } = subscriptionsTable(db);
  const { ofGuild, all, scopes, tokens, webhookNames } = projectsTable(db);
  const { sizes, list: quarantined, get: getQuarantined } = quarantineTable(db);
  const { list: letters, get: getLetter } = deadLetters(db);
  const { blocked } = channelStates(db);
  const { settings } = guildsTable(db);
  const { uptime, prunedBefore } = uptimeReader(db);
  return atOneMoment(db, {
    inbox: { usage: inboxTable(db).usage },
    quarantine: { sizes, list: quarantined, get: getQuarantined },
    deadLetters: { list: letters, get: getLetter },
    channels: { blocked },
    subscriptions: { list, get, tokenMutes, watching },
    labels: { list: labelsTable(db).list },
    guilds: { settings },
    audit: { page: auditTable(db).page },
    projects: { ofGuild, all, scopes, tokens, webhookNames },
    history: { ...transferHistoryReader(db), ...activityReader(db), ...historyTable(db) },
    silence: silenceReader(db),
    tokens: tokensTable(db),
    metrics: metricsTable(db),
    retention: { prunedBefore },
    uptime,
    erasure: erasureReader(db),
  } satisfies ReadMethods);
}

/** Makes each method one transaction: what its statements return was true at one moment, whatever the writer commits. */
function atOneMoment<Groups extends ReadMethods>(db: Database, groups: Groups): Groups {
  type Method = (...args: unknown[]) => unknown;
  const each = (methods: object) =>
    Object.entries(methods).map(([name, method]) => [name, db.transaction(method as Method)] as const);
  const made = Object.entries(groups).map(([group, methods]) => [group, Object.fromEntries(each(methods))] as const);
  return Object.fromEntries(made) as unknown as Groups;
}
