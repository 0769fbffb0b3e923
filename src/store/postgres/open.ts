import { shownUrl } from '../../config.ts';
import { type Clock, SECOND } from '../../domain/clock.ts';
import type { Copyable } from '../copy.ts';
import type { OpenStore, StoreLog, WorkLock } from '../open.ts';
import { portOver } from '../queries/index.ts';
import { putValue, valueAt } from '../queries/meta.ts';
import { MIGRATIONS, type Migration, SCHEMA_VERSION, schemaFault, stepsFrom } from '../schema.ts';
import { raw, type Sql } from '../sql.ts';
import type { Store } from '../store.ts';
import { type Connection, clientConfig, connect, isAway } from './connection.ts';
import { createWorkLock, IS_WORKING } from './work-lock.ts';

const RETRY_MS = SECOND;

const VERSION_KEY = 'schema-version';

const storeOver = (connection: Connection): Store =>
  portOver(({ mode, run }, ...args) => connection.run(mode, (sql) => run(sql, ...args)));

/** The server may be away at first: calls fail until `ready` resolves. */
export function openPostgres(url: string, options: { clock: Clock; log: StoreLog }): OpenStore & { lock: WorkLock } {
  const { clock, log } = options;
  const connection = connect(url);
  const lock = createWorkLock({ ...options, config: clientConfig(url), fence: connection.fence });
  let cancel = () => {};
  let isClosed = false;

  async function prepare(): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await migrate(connection, shownUrl(url));
      } catch (error) {
        if (isClosed || !isAway(error)) throw error;
        if (isFirst) log.warn({ reason: (error as Error).message }, 'waiting for the database');
        await new Promise<void>((resolve) => {
          cancel = clock.after(RETRY_MS, resolve);
        });
      }
    }
  }

  const ready = prepare();
  ready.catch(() => undefined);
  return {
    store: storeOver(connection),
    ready,
    failed: lock.lost,
    syncMs: connection.receiveMs,
    lock,
    async close() {
      isClosed = true;
      cancel();
      await lock.close();
      await connection.close();
    },
  };
}

export async function migrate(
  connection: Connection,
  name: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  for (;;) {
    const isDone = await connection.run('write', async (sql) => {
      const version = await versionOf(sql);
      const [step] = stepsFrom(version, name, migrations);
      if (!step) return true;
      await sql.run`${raw(step('postgres'))}`;
      await putValue(sql, VERSION_KEY, String(version + 1));
      return false;
    });
    if (isDone) return;
  }
}

/** 0: it has no tables. */
async function versionOf(sql: Sql): Promise<number> {
  const isThere = await sql.value`SELECT to_regclass('meta')::text`;
  return isThere === null ? 0 : Number((await valueAt(sql, VERSION_KEY)) ?? 0);
}

/** For tools: creates and migrates nothing. Throws an Error with a message for the operator when the schema differs. */
export async function openExisting(url: string): Promise<{ store: Store; close(): Promise<void> }> {
  await using stack = new AsyncDisposableStack();
  const connection = stack.adopt(connect(url), ({ close }) => close());
  const version = await connection.run('read', versionOf);
  if (version === 0) throw new Error(`There is no Ledgerbell in ${shownUrl(url)}. Set DATABASE_URL to its database.`);
  const fault = schemaFault(version, shownUrl(url));
  if (fault !== null) throw new Error(fault);
  stack.move();
  return { store: storeOver(connection), close: connection.close };
}

/** `schema` is the database's (0: none), `newest` this program's. */
export interface Examination {
  server: string;
  schema: number;
  newest: number;
  isWorking: boolean;
}

export async function examine(url: string): Promise<Examination> {
  await using stack = new AsyncDisposableStack();
  const connection = stack.adopt(connect(url), ({ close }) => close());
  return connection.run('read', async (sql) => {
    const server = await sql.value<string>`SELECT split_part(current_setting('server_version'), ' ', 1)`;
    const isWorking = await sql.value<boolean>`${IS_WORKING}`;
    return { server: server!, schema: await versionOf(sql), newest: SCHEMA_VERSION, isWorking: isWorking! };
  });
}

/** Postgres ends connections a moment after their process. */
const MAX_LOOKS = 20;

/** Throws an Error with a message for the operator while a bot uses the database. */
export async function openPostgresForCopy(url: string, { isSource }: { isSource: boolean }): Promise<Copyable> {
  const name = shownUrl(url);
  await using stack = new AsyncDisposableStack();
  const connection = stack.adopt(connect(url), ({ close }) => close());
  await connection.run('report', assertUnused(name));
  if (isSource && (await connection.run('report', versionOf)) === 0)
    throw new Error(`There is no Ledgerbell in ${name}.`);
  await migrate(connection, name);
  const opened = stack.move();
  return {
    name,
    run: (mode, work) =>
      connection.run(mode, async (sql) => {
        // Each of the two databases waits for the other one.
        await sql.run`SET LOCAL idle_in_transaction_session_timeout = 0`;
        return work(sql);
      }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const assertUnused =
  (name: string) =>
  async (sql: Sql): Promise<void> => {
    for (let look = 0; look < MAX_LOOKS; look++) {
      const others = await sql.value<number>`
        SELECT count(*) FROM pg_stat_get_activity(NULL) a JOIN pg_database d ON d.oid = a.datid
        WHERE d.datname = current_database() AND application_name LIKE 'ledgerbell%' AND pid <> pg_backend_pid()`;
      if (others === 0) return;
      await sql.run`SELECT pg_sleep(0.25)`;
    }
    throw new Error(`Processes are using ${name}. Stop every one of them first.`);
  };
