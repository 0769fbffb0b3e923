import { execFileSync, spawn } from 'node:child_process';
import { type DisposableTempDir, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** How many characters of its output an error about a process shows. */
const MAX_SHOWN = 300;

/** The path token of every receiver that is measured. */
export const TOKEN = 'path-token-of-the-bench';

/** A folder for a measurement's files, which is deleted at the end of the scope that uses it. */
export const newFolder = (): DisposableTempDir => mkdtempDisposableSync(join(tmpdir(), 'bench-'));

/** The database file of a bot in a folder. */
export const fileIn = (folder: string): string => join(folder, 'bot.sqlite');

/**
 * Starts a program and waits for a line of its output that matches `until`; `onLine` gets each line.
 *
 * @throws an error with its last output when it cannot be started or ends before that.
 */
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
    /** The line that matched. */
    ready: await ready.promise,
    /** Sends a signal and waits until the process has ended. */
    async end(signal: NodeJS.Signals) {
      child.kill(signal);
      await ended.promise;
    },
  };
}

/** Starts a file of the bench as a process, with a folder that is deleted when it stops. `ready`: what it passed to {@link serve}. */
export async function start<T>(file: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  const folder = newFolder();
  const { child, ready, end } = await launch(process.execPath, [file, ...args], {
    until: /^\{.*\}$/,
    env: { ...process.env, ...env, BENCH_FOLDER: folder.path },
  });
  return {
    pid: child.pid!,
    ready: JSON.parse(ready.input) as T,
    async stop() {
      await end('SIGKILL');
      folder.remove();
    },
  };
}

/** Runs within a measured process: reports that it is ready, and exits when its parent does. */
export function serve(ready: unknown): void {
  process.stdout.write(`${JSON.stringify(ready)}\n`);
  // The parent's end of this pipe closes however the parent ends.
  process.stdin.resume().on('close', () => process.exit(0));
}

/** The environment in which every sync takes 2 ms longer; null without a C compiler. */
export function slowSync(folder: string): Record<string, string> | null {
  const library = join(folder, 'slow-sync.so');
  try {
    execFileSync(process.env.CC ?? 'cc', ['-shared', '-fPIC', '-o', library, 'bench/slow-sync.c', '-ldl'], {
      stdio: 'ignore',
    });
  } catch {
    return null;
  }
  return { LD_PRELOAD: library };
}
