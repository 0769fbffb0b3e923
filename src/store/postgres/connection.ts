import { createHash } from 'node:crypto';
import pg from 'pg';
import { createFailures, notLeader } from './errors.ts';
import { provingTerm, type Term } from './leadership.ts';
import { clientConfig } from './url.ts';

const WRITER_LOCK = 7_302_101;
/** Held while anything but the inbox changes: writers of all processes run one after another, as on SQLite. */
export const TAKING_WRITES = `SELECT pg_advisory_xact_lock(${WRITER_LOCK})`;

/** Statements of one transaction, or each in one of its own. Values are `$1`, `$2`, … */
export interface Statements {
  all<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]>;
  get<Row>(sql: string, ...values: readonly unknown[]): Promise<Row | undefined>;
  /** Returns how many rows changed or were found. */
  run(sql: string, ...values: readonly unknown[]): Promise<number>;
}

type Work<T> = (sql: Statements) => Promise<T>;

/** Connections to one database. Every failure is a `StoreError`. */
export interface Connection {
  /** Single statements that only read. */
  reads: Statements;
  /** Several statements that only read, as of one moment. */
  read<T>(work: Work<T>): Promise<T>;
  /** One transaction, while no other transaction writes; resolves when it is on disk. */
  write<T>(work: Work<T>): Promise<T>;
  /** One transaction whose commit does not wait for the disk: only for work that is repeated after a power failure. */
  writeUnsynced<T>(work: Work<T>): Promise<T>;
  /** One transaction on the inbox alone, which waits for no other writer. */
  receive<T>(work: Work<T>): Promise<T>;
  /** How long the last delivery took to be stored, or the present one has taken until now; in milliseconds. */
  receiveMs(): number;
  /** These connections for the process that works: what it writes fails once another one was elected. */
  during(term: Term): Connection;
  /** Stops using the connections made so far: the server is away, or the network has forgotten them. */
  doubt(): void;
  /**
   * The server responds on another connection: calls that still wait on one that is in doubt fail now instead of after
   * their timeouts.
   */
  renew(): void;
  close(): Promise<void>;
}

/** Statement timeouts in milliseconds. The connection itself is given up `GRACE_MS` later. */
const TIMEOUTS = { receive: 2_000, write: 20_000, read: 60_000 };
const GRACE_MS = 1_000;
/** A transaction whose process sleeps or is cut off is rolled back after this, so that others get its locks. */
const IDLE_MS = 5_000;

/** Opens connections to a database; none is made before the first statement. */
export function connect(url: string): Connection {
  const failures = createFailures(() => performance.now());
  const clients = createClients();
  const create = (max: number, timeoutMs: number): Pool => ({
    pool: createPool(url, { max, timeoutMs }, clients),
    failures,
    clients,
  });
  const receiving = create(2, TIMEOUTS.receive);
  const writing = create(1, TIMEOUTS.write);
  const reading = create(4, TIMEOUTS.read);
  const reads: Statements = {
    all: (sql, ...values) => withClient(reading, (statements) => statements.all(sql, ...values)),
    get: (sql, ...values) => withClient(reading, (statements) => statements.get(sql, ...values)),
    run: (sql, ...values) => withClient(reading, (statements) => statements.run(sql, ...values)),
  };
  const durations = measure();
  const wrote = <T>(result: T): T => {
    failures.wrote();
    return result;
  };
  const open = (term: Term | null): Connection => ({
    reads,
    read: (work) => transaction(reading, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work),
    write: (work) => transaction(writing, beginWriting('BEGIN', term), work, term !== null).then(wrote),
    writeUnsynced: (work) => transaction(writing, beginWriting(UNSYNCED, term), work, term !== null).then(wrote),
    receive: (work) => durations.of(() => transaction(receiving, 'BEGIN', work)).then(wrote),
    receiveMs: durations.last,
    during: open,
    doubt: clients.doubt,
    renew: clients.renew,
    async close() {
      await Promise.all([receiving, writing, reading].map(({ pool }) => pool.end()));
    },
  });
  return open(null);
}

const UNSYNCED = 'BEGIN; SET LOCAL synchronous_commit = off';
/** Begins in one round trip. Returns no row when the term is over. An election waits for the transaction's end. */
const beginWriting = (begin: string, term: Term | null): string =>
  [begin, TAKING_WRITES, ...(term ? [provingTerm(term)] : [])].join('; ');

function createPool(url: string, { max, timeoutMs }: { max: number; timeoutMs: number }, clients: Clients): pg.Pool {
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
  clients.follow(pool);
  return pool;
}

type Clients = ReturnType<typeof createClients>;

/** The open connections of several pools; which of them work, and which are in doubt. */
function createClients() {
  const present = new Set<pg.PoolClient>();
  const working = new Set<pg.PoolClient>();
  const doubted = new WeakSet<pg.PoolClient>();
  return {
    follow(pool: pg.Pool): void {
      pool.on('connect', (client) => present.add(client));
      pool.on('remove', (client) => present.delete(client));
    },
    async take(pool: pg.Pool): Promise<pg.PoolClient> {
      for (;;) {
        const client = await pool.connect();
        if (!doubted.has(client)) {
          working.add(client);
          return client;
        }
        client.release(true);
      }
    },
    /** Returns it to its pool, or closes it. */
    giveBack(client: pg.PoolClient, isBroken: boolean): void {
      working.delete(client);
      client.release(isBroken);
    },
    doubt(): void {
      for (const client of present) doubted.add(client);
    },
    renew(): void {
      for (const client of working) if (doubted.has(client)) void client.end();
    },
  };
}

/** Connections, and how their failures are worded. */
interface Pool {
  pool: pg.Pool;
  failures: ReturnType<typeof createFailures>;
  clients: Clients;
}

async function withClient<T>({ pool, failures, clients }: Pool, work: Work<T>): Promise<T> {
  let client: pg.PoolClient | null = null;
  try {
    client = await clients.take(pool);
    const result = await work(statementsOf(client));
    clients.giveBack(client, false);
    return result;
  } catch (error) {
    const failure = failures.word(error);
    // After anything but a refused statement, the connection's state is unknown or its server is the wrong one.
    if (client) clients.giveBack(client, !failure.isRefusal);
    throw failure.error;
  }
}

/** `proves`: what begins it has to return a row. */
function transaction<T>(pool: Pool, begin: string, work: Work<T>, proves = false): Promise<T> {
  return withClient(pool, async (statements) => {
    try {
      const begun = await statements.run(begin);
      if (proves && begun === 0) throw notLeader();
      const result = await work(statements);
      await statements.run('COMMIT');
      return result;
    } catch (error) {
      // When it fails, too, the connection is broken, and the first error says why.
      await statements.run('ROLLBACK').catch(() => undefined);
      throw error;
    }
  });
}

function statementsOf(client: pg.ClientBase): Statements {
  const query = (sql: string, values: readonly unknown[]) =>
    client.query<pg.QueryResultRow>(
      values.length === 0 ? { text: sql } : { name: nameOf(sql), text: sql, values: values.map(storable) },
    );
  return {
    all: async <Row>(sql: string, ...values: readonly unknown[]) => (await query(sql, values)).rows as Row[],
    get: async <Row>(sql: string, ...values: readonly unknown[]) =>
      (await query(sql, values)).rows[0] as Row | undefined,
    // Several statements have several results; the last one counts.
    run: async (sql, ...values) => [await query(sql, values)].flat().at(-1)!.rowCount ?? 0,
  };
}

const names = new Map<string, string>();

/** A prepared statement's name: the server plans each statement once per connection. */
function nameOf(sql: string): string {
  const name = names.get(sql) ?? createHash('sha1').update(sql).digest('hex');
  names.set(sql, name);
  return name;
}

/** Postgres stores neither NUL nor half a character as text, and names from the chain may contain both. */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\uFFFD');
  return Array.isArray(value) ? value.map(storable) : value;
}

/** Rows as one value: `json_to_recordset($1::json) AS r ("guildId" text, …)` reads them. */
export const asJson = (rows: readonly object[]): string =>
  JSON.stringify(rows, (_, value: unknown) => (typeof value === 'string' ? storable(value) : value));

function measure() {
  let lastMs = 0;
  const begun = new Set<{ at: number }>();
  return {
    async of<T>(work: () => Promise<T>): Promise<T> {
      const start = { at: performance.now() };
      begun.add(start);
      try {
        return await work();
      } finally {
        begun.delete(start);
        lastMs = performance.now() - start.at;
      }
    },
    last: () => Math.max(lastMs, ...[...begun].map(({ at }) => performance.now() - at)),
  };
}
