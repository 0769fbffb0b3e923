import type { QueriesOf, Query } from '../sql.ts';
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

/** The port's methods. Another thread finds one by its group and name. */
export const QUERIES: Record<string, Record<string, Query<unknown[], unknown>>> = {
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
} satisfies { [Group in keyof Store]: QueriesOf<Store[Group]> };

export interface Method extends Query<unknown[], unknown> {
  group: string;
  name: string;
}

export function portOver(make: (method: Method, ...args: unknown[]) => Promise<unknown>): Store {
  const port: Record<string, Record<string, unknown>> = {};
  for (const [group, queries] of Object.entries(QUERIES)) {
    const methods: Record<string, unknown> = {};
    for (const [name, query] of Object.entries(queries)) methods[name] = make.bind(null, { group, name, ...query });
    port[group] = methods;
  }
  return port as unknown as Store;
}
