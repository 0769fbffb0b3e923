import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { SECOND } from '../../domain/clock.ts';
import { ConfigError, StoreError } from '../../errors.ts';
import { TABLES } from '../schema.ts';
import { type Mode, type Sql, sqlOver } from '../sql.ts';

const WRITER_LOCK = 7_302_101;
/** Held while anything but the inbox changes: writers of all processes run one after another, as on SQLite. */
export const TAKING_WRITES = `SELECT pg_advisory_xact_lock(${WRITER_LOCK})`;

const TIMEOUTS = { receive: 2 * SECOND, write: 20 * SECOND, read: 60 * SECOND };
const GRACE_MS = SECOND;
/** A transaction whose process sleeps or is cut off is rolled back after this, so that others get its locks. */
const IDLE_MS = 5 * SECOND;

const READING = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
const UNSYNCED = 'BEGIN; SET LOCAL synchronous_commit = off';

const FIRST_ANALYZED = 16;
const ANALYZE = `ANALYZE ${TABLES.map(({ name }) => name).join(', ')}`;

/** Every failure is a `StoreError`. */
export interface Connection {
  run<T>(mode: Mode, work: (sql: Sql) => Promise<T>): Promise<T>;
  receiveMs(): number;
  /** Each later write first runs this statement. It fails when no row is returned: another process works then. */
  fence(proof: string): void;
  close(): Promise<void>;
}

export function connect(url: string): Connection {
  const receiving = createPool(url, 2, TIMEOUTS.receive);
  const writing = createPool(url, 1, TIMEOUTS.write);
  const reading = createPool(url, 4, TIMEOUTS.read);
  const begun = new Set<number>();
  let lastMs = 0;
  let proof: string | null = null;
  let analyzeAfter = FIRST_ANALYZED;
  let unsynced = 0;

  /**
   * Postgres plans for the size that tables had at the last ANALYZE, and looks once a minute whether they need one.
   * Until then a new database at 1,000 events a second reads whole tables for each row.
   */
  function analyzeIfGrown(): void {
    if (++unsynced < analyzeAfter) return;
    analyzeAfter *= 2;
    // Only speed depends on it.
    reading.query(ANALYZE).catch(() => undefined);
  }

  async function receive<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const at = performance.now();
    begun.add(at);
    try {
      return await transaction(receiving, 'BEGIN', false, work);
    } finally {
      begun.delete(at);
      lastMs = performance.now() - at;
    }
  }

  const write = <T>(begin: string, work: (sql: Sql) => Promise<T>): Promise<T> =>
    transaction(writing, [begin, TAKING_WRITES, ...(proof === null ? [] : [proof])].join('; '), proof !== null, work);

  return {
    run(mode, work) {
      switch (mode) {
        case 'report':
        case 'read':
          return transaction(reading, READING, false, work);
        case 'receive':
          return receive(work);
        case 'write':
          return write('BEGIN', work);
        case 'unsynced':
          return write(UNSYNCED, work).finally(analyzeIfGrown);
      }
    },
    receiveMs: () => Math.max(lastMs, ...[...begun].map((at) => performance.now() - at)),
    fence(statement) {
      proof = statement;
    },
    async close() {
      await Promise.all([receiving, writing, reading].map((pool) => pool.end()));
    },
  };
}

function createPool(url: string, max: number, timeoutMs: number): pg.Pool {
  const pool = new pg.Pool({
    ...clientConfig(url),
    max,
    // Waiting for a free connection counts too, so no call waits forever.
    connectionTimeoutMillis: timeoutMs,
    statement_timeout: timeoutMs,
    lock_timeout: timeoutMs,
    query_timeout: timeoutMs + GRACE_MS,
    idle_in_transaction_session_timeout: IDLE_MS,
  });
  // An idle connection broke. The next call makes another one, and fails if that is impossible.
  pool.on('error', () => undefined);
  // A connection broke during a call, which fails. Without a listener, the process would end.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

async function transaction<T>(
  pool: pg.Pool,
  begin: string,
  isFenced: boolean,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  let client: pg.PoolClient | null = null;
  try {
    client = await pool.connect();
    const begun = [await client.query(begin)].flat().at(-1)!;
    if (isFenced && begun.rowCount === 0)
      throw new StoreError('Another process works now: this one no longer changes anything.', 'LEDGERBELL_NOT_WORKING');
    const result = await work(statementsOn(client));
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    const failure = toStoreError(error);
    // When this fails, too, the connection is broken, and the first error says why.
    await client?.query('ROLLBACK').catch(() => undefined);
    // After anything but a refused statement, the connection's state is unknown or its server is the wrong one.
    client?.release(!failure.isRefusal);
    throw failure.error;
  }
}

const statementsOn = (client: pg.ClientBase): Sql =>
  sqlOver('postgres', async (text, values) => {
    const query = { text, rowMode: 'array' as const };
    const found = await client.query(
      // The server parses each named statement once per connection.
      values.length === 0 ? query : { ...query, name: hash('sha1', text), values: [...values] },
    );
    // Several statements have several results; the last one counts.
    const { fields, rows, rowCount } = [found].flat().at(-1)!;
    return { columns: fields.map(({ name }) => name), rows, count: rowCount ?? 0 };
  });

const TLS = /^(ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|ERR_SSL)|does not support SSL|SSL connection/;

/** Of a connection, and of a server that stops, starts, or is a replica: another connection may work. */
const CONNECTION = /^(08|57P|25006|53300)/;

const DISK_FULL = '53100';

/** The library's messages for broken connections, which have no code. */
const BROKEN =
  /^(Connection terminated|timeout exceeded|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after)/;

/**
 * `isRefusal`: the server refused a statement, and the connection works. The code is `POSTGRES_` with the SQLSTATE, or
 * `POSTGRES_TLS`, or `POSTGRES_UNREACHABLE`.
 */
export function toStoreError(error: unknown): { error: unknown; isRefusal: boolean } {
  if (!(error instanceof Error) || error instanceof StoreError) return { error, isRefusal: true };
  const { code = '', message } = error as Error & { code?: string };
  if ('severity' in error) {
    const text = code === DISK_FULL ? `The disk of the database server is full: ${message}` : message;
    return { error: new StoreError(text, `POSTGRES_${code}`), isRefusal: !CONNECTION.test(code) };
  }
  if (TLS.test(code) || TLS.test(message)) return { error: new StoreError(message, 'POSTGRES_TLS'), isRefusal: false };
  if (/^E[A-Z]+$/.test(code) || BROKEN.test(message)) {
    const text = `The database cannot be reached: ${message === '' ? code : message}.`;
    return { error: new StoreError(text, 'POSTGRES_UNREACHABLE'), isRefusal: false };
  }
  // A bug of ours, or an outcome thrown to roll back: the transaction is over, and the connection works.
  return { error, isRefusal: true };
}

/** Whether a start should wait: the server is away, starts, or has no connection left. */
export const isAway = (error: unknown): boolean =>
  error instanceof StoreError && /^POSTGRES_(UNREACHABLE|08|57P|53300)/.test(error.code ?? '');

/** Their values fit into a number here: times, ids, counts, and sums of these. */
const NUMBERS: ReadonlySet<number> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (NUMBERS.has(oid) ? Number : pg.types.getTypeParser(oid, format)),
};

/**
 * Connections to other machines use TLS with a verified certificate, unless the URL says `sslmode=disable` or
 * `sslmode=no-verify`; `sslrootcert` names a file with the CA's certificate. Throws a {@link ConfigError}.
 */
export function clientConfig(text: string): pg.ClientConfig {
  const url = new URL(text);
  const mode = url.searchParams.get('sslmode');
  const root = url.searchParams.get('sslrootcert');
  for (const name of ['sslmode', 'sslrootcert']) url.searchParams.delete(name);
  return {
    connectionString: url.href,
    ssl: tlsOf(mode ?? (isHere(url) ? 'disable' : 'verify-full'), root),
    application_name: 'ledgerbell',
    keepAlive: true,
    keepAliveInitialDelayMillis: 1_000,
    types,
  };
}

/** This machine, or a socket's folder. */
const isHere = ({ hostname, searchParams }: URL): boolean =>
  /^(|localhost|127\..*|\[::1\]|%2F.*)$/i.test(hostname) || (searchParams.get('host') ?? '').startsWith('/');

function tlsOf(mode: string, root: string | null): pg.ClientConfig['ssl'] {
  if (mode === 'disable') return false;
  if (mode === 'no-verify') return { rejectUnauthorized: false };
  if (!['require', 'verify-ca', 'verify-full'].includes(mode)) {
    throw new ConfigError(
      `DATABASE_URL: sslmode=${mode} does not verify the server. Use verify-full, or disable for a network you trust.`,
    );
  }
  try {
    return root === null ? true : { ca: readFileSync(root, 'utf8') };
  } catch (error) {
    throw new ConfigError(`DATABASE_URL: sslrootcert cannot be read: ${(error as Error).message}.`);
  }
}
