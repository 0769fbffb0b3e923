import { spawn } from 'node:child_process';
import { type DisposableTempDir, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import packageJson from '../package.json' with { type: 'json' };
import { openWaiting } from './database.ts';

const MAX_SHOWN = 300;

export const TOKEN = 'path-token-of-the-bench';

/** Deleted at the end of the scope that uses it. */
export const newFolder = (): DisposableTempDir => mkdtempDisposableSync(join(tmpdir(), 'bench-'));

/** Resolves at the first line that matches `until`. @throws with the last output when the program ends before that. */
export async function launch(
  command: string,
  args: readonly string[],
  { until, env, onLine = () => undefined }: { until: RegExp; env: NodeJS.ProcessEnv; onLine?: (line: string) => void },
) {
  const child = spawn(command, args, { env });
  // A measurement that fails must not leave the process running, which would slow down the next ones.
  const orphaned = () => void child.kill('SIGKILL');
  process.once('exit', orphaned);
  const ready = Promise.withResolvers<RegExpExecArray>();
  const ended = Promise.withResolvers<void>();
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      output = `${output}\n${line}`.slice(-MAX_SHOWN);
      onLine(line);
      const match = until.exec(line);
      if (match) ready.resolve(match);
    });
  }
  child.once('error', ready.reject);
  child.once('close', (code) => {
    process.off('exit', orphaned);
    ended.resolve();
    ready.reject(new Error(`${command} ${args.join(' ')} ended with code ${code}: ${output}`));
  });
  return {
    child,
    ready: await ready.promise,
    async end(signal: NodeJS.Signals) {
      child.kill(signal);
      await ended.promise;
    },
  };
}

/** `url`: what the file passed to {@link serve}. Its folder is deleted with it. */
export async function start(file: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  const folder = newFolder();
  const { child, ready, end } = await launch(process.execPath, [file, ...args], {
    until: /^(http:\S+|ready)$/,
    env: { ...process.env, ...env, BENCH_FOLDER: folder.path },
  });
  const kill = async () => {
    await end('SIGKILL');
    folder.remove();
  };
  return { pid: child.pid!, url: ready[0], kill, [Symbol.asyncDispose]: kill };
}

/** Call in a measured process. It exits when its parent does. */
export function serve(url: string): void {
  process.stdout.write(`${url}\n`);
  // The parent's end of this pipe closes however the parent ends.
  process.stdin.resume().on('close', () => process.exit(0));
}

/** The default token is that of {@link startStub}. */
interface Discord {
  apiUrl: string;
  token?: string;
}

/** As `npm start` does in a shell. */
export async function startBot(
  database: string,
  { apiUrl, token = 'none' }: Discord,
  environment: Record<string, string> = {},
  onLog?: (line: string) => void,
) {
  const { child, ready, end } = await launch('sh', ['-c', packageJson.scripts.start], {
    until: /"started"/,
    ...(onLog ? { onLine: onLog } : {}),
    env: {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      PORT: '0',
      OPS_PORT: '0',
      DATABASE_URL: database,
      DISCORD_API_URL: apiUrl,
      DISCORD_TOKEN: token,
      RECEIVER_TOKEN: TOKEN,
      RECEIVER_SOURCES: '127.0.0.1',
      LOG_LEVEL: 'info',
      ...environment,
    },
  });
  const { receiver } = JSON.parse(ready.input) as { receiver: string };
  const { waiting, close } = await openWaiting(database);
  const stop = async (signal: NodeJS.Signals) => {
    await close();
    await end(signal);
  };
  return {
    pid: child.pid!,
    url: `${receiver}/hooks/${TOKEN}`,
    waiting,
    kill: () => stop('SIGKILL'),
    [Symbol.asyncDispose]: () => stop('SIGTERM'),
  };
}
