import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { type Config, databaseFile, isPostgres, shownUrl } from '../config.ts';
import type { Clock } from '../domain/clock.ts';
import { operatorScope } from '../domain/inbox.ts';
import { assertListenable } from '../listen.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { respondWhileWaiting } from '../operator/ops.ts';
import { openPathTokens } from '../receiver/path-tokens.ts';
import type { OpenStore } from '../store/open.ts';
import { startDailyBackups } from '../store/sqlite/daily-backups.ts';
import { prepareFolder } from '../store/sqlite/files.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import { withIds } from '../upstream/interfaces.ts';

export interface AppContext {
  config: Config;
  log: Logger;
  clock: Clock;
  random(): number;
  metrics: Metrics;
  /** Closes what was started, latest first: when the app stops, or when a later part cannot start. */
  stack: AsyncDisposableStack;
}

/** `file` null: the database is on a server. `name` is for the log: without a password. */
export async function openData(context: AppContext, given: OpenStore | undefined) {
  const { config, log, clock, stack } = context;
  const url = config.DATABASE_URL;
  const file = isPostgres(url) && !given ? null : databaseFile(config);
  const database = given ?? (await openDatabase(context, file));
  const { store } = stack.adopt(database, ({ close }) => close());
  const { BACKUP_DIR: folder, BACKUP_KEEP: keep } = config;
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
  const isNew = !existsSync(file);
  // Checks what can be checked before an empty database is created: a failed start leaves nothing behind.
  if (isNew) {
    await assertListenable(config.HOST, config.PORT, 'PORT');
    await assertListenable(config.OPS_HOST, config.OPS_PORT, 'OPS_PORT');
  }
  prepareFolder(file);
  const database = await openSqlite(file, (details, message) => log.info(details, message));
  // With a wrong path the bot would run without any subscription: it would accept every delivery and alert nobody.
  if (isNew)
    log.warn({ database: file }, 'no database found, creating an empty one; if you expected one, check DATABASE_URL');
  return database;
}
