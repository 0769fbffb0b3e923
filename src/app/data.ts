import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Config, databaseFile, isPostgres } from '../config.ts';
import { ConfigError } from '../errors.ts';
import { assertListenable } from '../receiver/listen.ts';
import { openPathTokens } from '../receiver/paths.ts';
import type { OpenStore, StoreListener } from '../store/open-store.ts';
import { openStore } from '../store/sqlite/client.ts';
import { startDailyBackups } from '../store/sqlite/daily.ts';
import { takePlace } from '../store/sqlite/folder.ts';
import { logMigration } from './migration-progress.ts';
import type { Parts } from './parts.ts';

/** What the app remembers. */
export type Data = Awaited<ReturnType<typeof openData>>;

/** Opens the database, and what is read from it before anything else can start. `given`: an open one, not backed up. */
export async function openData(parts: Parts, given: OpenStore | undefined, listener: StoreListener | undefined) {
  const { config, log, clock, now, stack } = parts;
  if (isPostgres(config.DATABASE_URL)) throw new ConfigError('DATABASE_URL: Postgres is not supported yet.');
  const file = databaseFile(config);
  if (!given && !existsSync(file)) await assertStartable(config);
  const database = given ?? (await openDatabase(file, parts, listener));
  const { store } = stack.adopt(database, ({ close }) => close());
  const { BACKUP_DIR: folder, BACKUP_KEEP: keep } = config;
  const backups = given ? null : startDailyBackups({ file, folder, keep, clock, log });
  stack.defer(() => backups?.close());
  return {
    file,
    /** The key that seals guilds' projects lies there, unless the environment has it. */
    keyFile: join(dirname(file), 'secrets.key'),
    database,
    store,
    tokens: await openPathTokens({ store, fixed: config.RECEIVER_TOKEN, now }),
    lastBackup: () => backups?.last() ?? null,
  };
}

/** Checks what can be checked before an empty database is created: a failed start leaves nothing behind. */
async function assertStartable({ HOST, PORT, OPS_HOST, OPS_PORT }: Config): Promise<void> {
  await assertListenable(HOST, PORT, 'PORT');
  await assertListenable(OPS_HOST, OPS_PORT, 'OPS_PORT');
}

/** Opens the configured database; creates an empty one if there is none. */
async function openDatabase(
  file: string,
  { clock, log }: Pick<Parts, 'clock' | 'log'>,
  listener?: StoreListener,
): Promise<OpenStore> {
  const isNew = !existsSync(file);
  takePlace(file);
  const migration = logMigration(file, { clock, log });
  const opening = openStore(file, { ...listener, onProgress: migration.onProgress });
  const database = await opening.finally(migration.stop);
  // With a wrong path the bot would run without any subscription: it would accept every delivery and alert nobody.
  if (isNew)
    log.warn({ database: file }, 'no database found, creating an empty one; if you expected one, check DATABASE_URL');
  return database;
}
