import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Config, databaseFile, isPostgres } from '../config.ts';
import { makeFolder } from '../domain/folder.ts';
import { assertListenable } from '../receiver/listen.ts';
import { openPathTokens, type PathTokens } from '../receiver/paths.ts';
import type { OpenStore, StoreListener } from '../store/open-store.ts';
import type { SharedStore } from '../store/postgres/client.ts';
import { openStore } from '../store/sqlite/client.ts';
import { startDailyBackups } from '../store/sqlite/daily-backups.ts';
import { prepareFolder } from '../store/sqlite/folder.ts';
import { MIGRATIONS } from '../store/sqlite/migrations.ts';
import type { Store } from '../store/store.ts';
import type { AppContext } from './context.ts';
import { logMigration } from './migration-progress.ts';
import { NOTIFICATIONS } from './notifications.ts';

/** What the app remembers. */
export interface Data {
  /** What the log names. */
  name: string;
  /** The database's file; null: a server has it. */
  file: string | null;
  schema: number;
  /** The key that seals guilds' projects lies there, unless the environment has it. */
  keyFile: string;
  database: OpenStore;
  store: Store;
  tokens: PathTokens;
  /** What processes on one database share; null: there can be only one. */
  shared: SharedStore | null;
  /** When the newest backup was made: null when there is none, undefined when somebody else makes them. */
  lastBackup(): number | null | undefined;
}

/** Opens the database, and what is read from it before anything else can start. `given`: an open one, not backed up. */
export function openData(
  context: AppContext,
  given: OpenStore | undefined,
  listener: StoreListener | undefined,
): Promise<Data> {
  return isPostgres(context.config.DATABASE_URL) && !given ? openShared(context) : openFile(context, given, listener);
}

async function openFile(
  context: AppContext,
  given: OpenStore | undefined,
  listener: StoreListener | undefined,
): Promise<Data> {
  const { config, log, clock, stack } = context;
  const file = databaseFile(config);
  if (!given && !existsSync(file)) await assertStartable(config);
  const database = given ?? (await openDatabase(file, context, listener));
  const { store } = stack.adopt(database, ({ close }) => close());
  const { BACKUP_DIR: folder, BACKUP_KEEP: keep } = config;
  const backups = given ? null : startDailyBackups({ file, folder, keep, clock, log });
  stack.defer(() => backups?.close());
  return {
    name: file,
    file,
    schema: MIGRATIONS.length,
    keyFile: join(dirname(file), KEY_NAME),
    database,
    store,
    tokens: await openPathTokens({ store, fixed: config.RECEIVER_TOKEN }),
    shared: null,
    lastBackup: () => backups?.last() ?? null,
  };
}

/** Opens a database that other processes use, too. */
async function openShared({ config, log, clock, elapsed, stack }: AppContext): Promise<Data> {
  const { DATABASE_URL: url, ROLES, RECEIVER_TOKEN, SECRETS_KEY } = config;
  const onProgress = (details: object, message: string) => log.info(details, message);
  const isCandidate = ROLES.includes('work');
  // Only here, because most installations have no Postgres.
  const { openSharedStore } = await import('../store/postgres/client.ts');
  const shared = await openSharedStore(url, { onProgress, isCandidate, clock, elapsed, log });
  const { store, leadership } = stack.adopt(shared, ({ close }) => close());
  const keyFile = resolve('data', KEY_NAME);
  if (!SECRETS_KEY) {
    makeFolder(dirname(keyFile));
    log.warn({ keyFile }, 'SECRETS_KEY is not set: every process on this database needs the key in this file');
  }
  const onChanged = () => leadership.notify(NOTIFICATIONS.settings);
  return {
    name: shared.name,
    file: null,
    schema: shared.schema,
    keyFile,
    database: shared,
    store,
    tokens: await openPathTokens({ store, fixed: RECEIVER_TOKEN, onChanged }),
    shared,
    lastBackup: () => undefined,
  };
}

const KEY_NAME = 'secrets.key';

/** Checks what can be checked before an empty database is created: a failed start leaves nothing behind. */
async function assertStartable({ HOST, PORT, OPS_HOST, OPS_PORT }: Config): Promise<void> {
  await assertListenable(HOST, PORT, 'PORT');
  await assertListenable(OPS_HOST, OPS_PORT, 'OPS_PORT');
}

/** Opens the configured database; creates an empty one if there is none. */
async function openDatabase(
  file: string,
  { clock, log }: Pick<AppContext, 'clock' | 'log'>,
  listener?: StoreListener,
): Promise<OpenStore> {
  const isNew = !existsSync(file);
  prepareFolder(file);
  const migration = logMigration(file, { clock, log });
  const onUnchecked = (error: Error) =>
    log.warn(
      { database: file, err: error },
      'checking the database for damage failed; restart the bot to repeat the check',
    );
  const opening = openStore(file, { ...listener, clock, onUnchecked, onProgress: migration.onProgress });
  const database = await opening.finally(migration.stop);
  // With a wrong path the bot would run without any subscription: it would accept every delivery and alert nobody.
  if (isNew)
    log.warn({ database: file }, 'no database found, creating an empty one; if you expected one, check DATABASE_URL');
  return database;
}
