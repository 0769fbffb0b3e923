import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { SECOND } from '../src/domain/clock.ts';
import { freePorts } from './ports.ts';

const USER = 'ledgerbell';
const START_MS = 30 * SECOND;
const POLL_MS = 50;
/** Stops the server when its standard input closes, which happens however this process ends. */
const STOP_WITH_PARENT = '"$@" & cat > /dev/null; kill -INT $!; wait';

export function postgresPrograms(): string | null {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).map(Number).filter(Boolean) : [];
  const found = versions.toSorted((a, b) => b - a).map((version) => `${root}/${version}/bin`);
  return found.find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

/** Words to put before a command: Postgres refuses to run as root. */
export const asPostgresUser = (): string[] => (process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : []);

export interface Postgres {
  url: string;
  notice: string;
  close(): Promise<void>;
}

/** @throws with a sentence if Postgres is not installed or does not start. */
export async function startPostgres(): Promise<Postgres> {
  const programs = postgresPrograms();
  if (programs === null) {
    throw new Error(
      'There is no Postgres in /usr/lib/postgresql. On Debian and Ubuntu: apt-get install postgresql. Without it, start ' +
        'the sandbox without --postgres: it uses SQLite then.',
    );
  }
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'ledgerbell-postgres-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const data = join(folder, 'data');
  const [port] = await freePorts(1);
  const user = asPostgresUser();
  if (user.length > 0) execFileSync('chown', ['postgres', folder]);
  await chmod(folder, 0o700);
  const command = (...args: string[]): [string, string[]] => [[...user, ...args][0]!, [...user, ...args].slice(1)];
  const initdb = [join(programs, 'initdb'), '-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'];
  execFileSync(...command(...initdb), { cwd: folder, stdio: 'pipe' });
  const place = ['-c', `port=${port}`, '-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`];
  const server = spawn(
    ...command('sh', '-c', STOP_WITH_PARENT, 'sh', join(programs, 'postgres'), '-D', data, ...place),
    {
      cwd: folder,
      stdio: ['pipe', 'ignore', 'ignore'],
      // Ctrl-C is for the sandbox, which stops the bot before its database.
      detached: true,
    },
  );
  const ended = once(server, 'exit');
  stack.defer(async () => {
    server.stdin!.end();
    if (server.exitCode === null) await ended;
  });
  const url = `postgres://${USER}@127.0.0.1:${port}/postgres`;
  const version = await firstResponse(url);
  if (version === null) throw new Error(`Postgres did not start within ${START_MS / SECOND} s.`);
  const started = stack.move();
  return { url, notice: `PostgreSQL ${version} at 127.0.0.1:${port}`, close: () => started.disposeAsync() };
}

async function firstResponse(url: string): Promise<string | null> {
  for (const until = Date.now() + START_MS; Date.now() < until; await wait(POLL_MS)) {
    const client = new pg.Client(url);
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
      return rows[0]!.server_version;
    } catch {
      // It is still starting.
    } finally {
      await client.end();
    }
  }
  return null;
}
