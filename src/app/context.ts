import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import type { CommandServices } from '../../commands/shared/services.ts';
import { type Config, databaseFile, isPostgres, shownUrl } from '../config.ts';
import type { GatewayOptions, startGateway } from '../discord/gateway.ts';
import type { createRenderers } from '../discord/render/renderers.ts';
import type { Clock } from '../domain/clock.ts';
import { operatorScope } from '../domain/inbox.ts';
import type { Sender } from '../domain/sender.ts';
import type { Limits } from '../limits.ts';
import { assertListenable, type HEADERS } from '../listen.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { respondWhileWaiting } from '../operator/ops.ts';
import { openPathTokens } from '../receiver/path-tokens.ts';
import type { watchReachability } from '../receiver/reachability.ts';
import type { startReceiver } from '../receiver/server.ts';
import type { OpenStore } from '../store/open.ts';
import { startDailyBackups } from '../store/sqlite/daily-backups.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import { type Interfaces, withIds } from '../upstream/interfaces.ts';

/** Replacements for tests. */
export interface AppOverrides {
  log?: Logger;
  clock?: Clock;
  random?: () => number;
  /** Closed with the app; not backed up. */
  database?: OpenStore;
  sender?: Sender;
  renderers?: Partial<ReturnType<typeof createRenderers>>;
  services?: Partial<CommandServices>;
  connect?: (
    options: GatewayOptions<CommandServices>,
  ) => Pick<ReturnType<typeof startGateway>, 'state' | 'shards' | 'close'>;
  limits?: Limits;
  headers?: typeof HEADERS;
  upstreamTimeoutMs?: number;
  /** Milliseconds between two comparisons with the chain. */
  chainRoundMs?: number;
}

export interface AppContext {
  config: Config;
  log: Logger;
  clock: Clock;
  random(): number;
  metrics: Metrics;
  /** Closes what was started, latest first: when the app stops, or when a later part cannot start. */
  stack: AsyncDisposableStack;
}

/** The parts that every process of a database opens, whatever its role. */
export interface Base extends AppContext, Awaited<ReturnType<typeof openData>> {
  interfaces: Interfaces;
}

export interface Receiving {
  receiver: Awaited<ReturnType<typeof startReceiver>>;
  /** Without a path. */
  publicUrl: string;
  reachability: ReturnType<typeof watchReachability>;
}

/** `file` null: the database is on a server. `name` is for the log: without a password. */
export async function openData(context: AppContext, given: OpenStore | undefined) {
  const { config, log, clock, stack } = context;
  const { DATABASE_URL: url, BACKUP_DIR: folder, BACKUP_KEEP: keep } = config;
  const file = isPostgres(url) && !given ? null : databaseFile(config);
  const database = given ?? (await openDatabase(context, file));
  const { store } = stack.adopt(database, ({ close }) => close());
  const backups = given || file === null ? null : startDailyBackups({ file, folder, keep, clock, log });
  stack.defer(() => backups?.close());
  await respondWhileWaiting(config, database.ready, clock);
  const networks = await withIds(config.networks, store);
  const fixed = new Map(networks.map(({ id, RECEIVER_TOKEN }) => [operatorScope(id), RECEIVER_TOKEN]));
  const tokens = await openPathTokens({ store, fixed });
  /** null: there is no backup; undefined: somebody else makes them. */
  const lastBackup = (): number | null | undefined => (file === null ? undefined : (backups?.last() ?? null));
  return { name: file ?? shownUrl(url), file, database, store, networks, tokens, lastBackup };
}

async function openDatabase(context: AppContext, file: string | null): Promise<OpenStore> {
  const { config, log } = context;
  // Imported only here, because most installations have no Postgres.
  if (file === null) return (await import('../store/postgres/open.ts')).openPostgres(config.DATABASE_URL, context);
  // Checks what can be checked before an empty database is created: a failed start leaves nothing behind.
  if (!existsSync(file)) await assertListenable(config);
  return openSqlite(file, log);
}
