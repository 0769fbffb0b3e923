import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { type Config, databaseFile, isPostgres, type NetworkConfig, shownUrl } from '../config.ts';
import { type Clock, inTime, SECOND } from '../domain/clock.ts';
import { makeFolder } from '../domain/folder.ts';
import { FIRST_NETWORK } from '../domain/network.ts';
import { operatorScope } from '../domain/project.ts';
import { openPathTokens } from '../receiver/path-tokens.ts';
import { assertListenable } from '../receiver/server.ts';
import type { OpenStore } from '../store/open.ts';
import { startDailyBackups } from '../store/sqlite/backup.ts';
import { prepareFolder } from '../store/sqlite/files.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import type { AppContext, Data } from './context.ts';

const KEY_NAME = 'secrets.key';

export async function openData(context: AppContext, given: OpenStore | undefined): Promise<Data> {
  const { config, log, clock, stack } = context;
  const url = config.DATABASE_URL;
  const file = isPostgres(url) && !given ? null : databaseFile(config);
  const database = given ?? (await openDatabase(context, file));
  const { store } = stack.adopt(database, ({ close }) => close());
  const { BACKUP_DIR: folder, BACKUP_KEEP: keep } = config;
  const backups = given || file === null ? null : startDailyBackups({ file, folder, keep, clock, log });
  stack.defer(() => backups?.close());
  await respondWhileWaiting(config, database.ready, clock);
  const networks = await identify(config.networks, store);
  return {
    name: file ?? shownUrl(url),
    file,
    keyFile: file === null ? sharedKeyFile(context) : join(dirname(file), KEY_NAME),
    database,
    store,
    networks,
    tokens: await openPathTokens({
      store,
      fixed: new Map(networks.map(({ id, RECEIVER_TOKEN }) => [operatorScope(id), RECEIVER_TOKEN])),
    }),
    lastBackup: () => (file === null ? undefined : (backups?.last() ?? null)),
  };
}

/** Ids stay the same: what was stored before others were added belongs to the first network. */
async function identify(networks: readonly NetworkConfig[], { projects }: Store): Promise<Data['networks']> {
  const chainId = networks[0]!.chainId;
  const first = chainId === null ? null : await projects.firstNetwork(chainId);
  return networks.map((network) => ({ ...network, id: network.chainId === first ? FIRST_NETWORK : network.chainId! }));
}

async function openDatabase(context: AppContext, file: string | null): Promise<OpenStore> {
  const { config, log } = context;
  if (file === null) {
    // Only here, because most installations have no Postgres.
    const { openPostgres } = await import('../store/postgres/open.ts');
    return openPostgres(config.DATABASE_URL, context);
  }
  const isNew = !existsSync(file);
  // Checks what can be checked before an empty database is created: a failed start leaves nothing behind.
  if (isNew) await assertStartable(config);
  prepareFolder(file);
  const database = await openSqlite(file, (details, message) => log.info(details, message));
  // With a wrong path the bot would run without any subscription: it would accept every delivery and alert nobody.
  if (isNew)
    log.warn({ database: file }, 'no database found, creating an empty one; if you expected one, check DATABASE_URL');
  return database;
}

async function assertStartable({ HOST, PORT, OPS_HOST, OPS_PORT }: Config): Promise<void> {
  await assertListenable(HOST, PORT, 'PORT');
  await assertListenable(OPS_HOST, OPS_PORT, 'OPS_PORT');
}

/** Processes on different machines have no folder in common. */
function sharedKeyFile({ config, log }: AppContext): string {
  const keyFile = resolve('data', KEY_NAME);
  if (config.SECRETS_KEY) return keyFile;
  makeFolder(dirname(keyFile));
  log.warn({ keyFile }, 'SECRETS_KEY is not set: every process on this database needs the key in this file');
  return keyFile;
}

const QUICK_MS = SECOND;

/** While a server is away, deliveries get 503, so that their senders retry, and `/readyz` is red. */
async function respondWhileWaiting(
  { HOST, PORT, OPS_HOST, OPS_PORT, ROLES }: Config,
  ready: Promise<void>,
  clock: Clock,
): Promise<void> {
  const isReady = ready.then(() => true);
  if (await inTime(isReady, QUICK_MS, clock)) return;
  await using stack = new AsyncDisposableStack();
  const endpoints = [
    { host: OPS_HOST, port: OPS_PORT },
    ...(ROLES.includes('receive') ? [{ host: HOST, port: PORT }] : []),
  ];
  for (const endpoint of endpoints) {
    const server = createServer(({ url }, response) => {
      const isAlive = endpoint.port === OPS_PORT && url === '/healthz';
      const text = isAlive ? { ok: true } : { ok: false, error: 'Waiting for the database.' };
      response.writeHead(isAlive ? 200 : 503, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify(text));
    });
    stack.defer(() => new Promise<void>((resolve) => server.close(() => resolve())));
    stack.defer(() => server.closeAllConnections());
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(endpoint, resolve));
  }
  await ready;
}
