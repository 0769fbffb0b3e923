import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import getPort from 'get-port';
import pg from 'pg';
import { asPostgresUser, postgresPrograms } from '../../../sandbox/postgres.ts';
import { until } from '../../until.ts';

const MAX_STDERR_CHARACTERS = 10_000;

export interface PostgresServer {
  createDatabase(): Promise<string>;
  port: number;
  isRunning(): boolean;
  start(): Promise<void>;
  /** Lets its write-ahead log go on in a new file; rejects when there is no space for one. */
  switchLog(): Promise<void>;
  /** `immediate`: like a crash. */
  stop(how?: 'fast' | 'immediate'): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Whether its tests must be skipped. They say so; CI installs it and fails without it. */
export function isPostgresMissing(): boolean {
  if (postgresPrograms() !== null) return false;
  const what = 'No Postgres found: its tests are skipped. On Debian: apt-get install postgresql';
  if (process.env.CI) throw new Error(what);
  console.warn(what);
  return true;
}

/**
 * Starts a Postgres; `settings` are added to its own, and `tls` is what it shows to those who ask for TLS. Postgres refuses
 * to run as root: then it runs as `postgres`.
 */
export async function startPostgres(
  settings: Record<string, string> = {},
  tls: { cert: string; key: string } | null = null,
  environment: Record<string, string> = {},
): Promise<PostgresServer> {
  const programs = postgresPrograms();
  if (programs === null) throw new Error('There is no Postgres here. On Debian: apt-get install postgresql');
  const folder = mkdtempSync(join(tmpdir(), 'ledgerbell-postgres-'));
  const data = join(folder, 'data');
  const asUser = asPostgresUser();
  if (asUser.length > 0) execFileSync('chown', ['postgres', folder]);
  chmodSync(folder, 0o700);
  const run = (program: string, ...args: string[]) => {
    const [command, ...rest] = [...asUser, join(programs, program), ...args];
    execFileSync(command!, rest, { cwd: folder, stdio: 'pipe' });
  };
  run('initdb', '-D', data, '-U', 'ledgerbell', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync');
  if (tls !== null) {
    for (const [name, text] of Object.entries(tls)) writeFileSync(join(data, name), text, { mode: 0o600 });
    if (asUser.length > 0) execFileSync('chown', ['postgres', join(data, 'cert'), join(data, 'key')]);
  }
  const port = await getPort();
  const options = Object.entries({
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: folder,
    // Tests end the server, not the machine's power.
    fsync: 'off',
    max_connections: '60',
    log_min_messages: 'fatal',
    ...(tls !== null && { ssl: 'on', ssl_cert_file: 'cert', ssl_key_file: 'key' }),
    ...settings,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

  const admin = <T>(work: (client: pg.Client) => Promise<T>): Promise<T> =>
    withClient(`postgres://ledgerbell@127.0.0.1:${port}/postgres`, work);

  async function start(): Promise<void> {
    const [command, ...rest] = [...asUser, join(programs!, 'postgres'), '-D', data, ...options];
    const env = { ...process.env, ...environment };
    const child = spawn(command!, rest, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], env });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-MAX_STDERR_CHARACTERS);
    });
    await until('Postgres accepts connections', async () => {
      if (child.exitCode !== null) throw new Error(`Postgres ended with code ${child.exitCode}: ${stderr}`);
      return admin((client) => client.query('SELECT 1')).then(
        () => true,
        () => false,
      );
    });
  }

  const stop = (how: 'fast' | 'immediate' = 'fast') => run('pg_ctl', 'stop', '-D', data, '-m', how, '-w');
  const isRunning = () => existsSync(join(data, 'postmaster.pid'));
  await start();
  let databases = 0;
  return {
    port,
    isRunning,
    start,
    stop,
    switchLog: () =>
      admin(async (client) => {
        // An empty file is not switched. A checkpoint would free old files, and no new one would ever be needed.
        await client.query("SELECT pg_logical_emit_message(false, 'test', 'next file'); SELECT pg_switch_wal()");
      }),
    async createDatabase() {
      const name = `test_${++databases}`;
      await admin((client) => client.query(`CREATE DATABASE ${name}`));
      return `postgres://ledgerbell@127.0.0.1:${port}/${name}`;
    },
    async [Symbol.asyncDispose]() {
      if (isRunning()) stop('immediate');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Deletes every row and numbers new ones from 1 again, which is much faster than a new database. */
export async function emptyDatabase(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    // Without foreign keys, the order of the tables does not matter.
    const deletions = rows.map(({ name }) =>
      name === 'meta' ? "DELETE FROM meta WHERE key <> 'schema-version'" : `DELETE FROM ${name}`,
    );
    await client.query(`SET session_replication_role = replica; ${deletions.join('; ')}`);
    await client.query("SELECT setval(format('%I', sequencename), 1, FALSE) FROM pg_sequences");
  });
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
