import type { Mode, QueriesOf, Query, Sql } from '../sql.ts';
import type { Store } from '../store.ts';
import { channels } from './channels.ts';
import { balances, chainChecks } from './completeness.ts';
import { audit, confirmations, guilds, labels } from './guilds.ts';
import { history } from './history.ts';
import { inbox, quarantine } from './inbox.ts';
import { uptime } from './meta.ts';
import { metrics } from './metrics.ts';
import { deadLetters, outbox } from './outbox.ts';
import { projects } from './projects.ts';
import { erasure, retention } from './retention.ts';
import { routing } from './routing.ts';
import { silence, subscriptions } from './subscriptions.ts';
import { tokens } from './tokens.ts';

const QUERIES: { [Group in keyof Store]: QueriesOf<Store[Group]> } = {
  inbox,
  quarantine,
  routing,
  outbox,
  deadLetters,
  channels,
  subscriptions,
  labels,
  guilds,
  audit,
  confirmations,
  projects,
  history,
  silence,
  tokens,
  metrics,
  retention,
  uptime,
  chainChecks,
  balances,
  erasure,
};

export interface Call {
  group: string;
  method: string;
  args: unknown[];
}

export function runCall(sql: Sql, { group, method, args }: Call): Promise<unknown> {
  const queries = QUERIES as unknown as Record<string, Record<string, Query<unknown[], unknown>>>;
  return queries[group]![method]!.run(sql, ...args);
}

export function portOver(make: (call: Call, mode: Mode) => Promise<unknown>): Store {
  const port = Object.entries(QUERIES).map(([group, methods]) => [
    group,
    Object.fromEntries(
      Object.entries<{ mode: Mode }>(methods).map(([method, { mode }]) => [
        method,
        (...args: unknown[]) => make({ group, method, args }, mode),
      ]),
    ),
  ]);
  return Object.fromEntries(port) as Store;
}
