import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type DisposableTempDir, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A measured process. It writes a line of JSON when it is ready. */
export interface Measured<T> {
  child: ChildProcess;
  ready: T;
  stop(): Promise<void>;
}

/** The path token of every receiver that is measured. */
export const TOKEN = 'path-token-of-the-bench';

/** A folder for a measurement's files, which is deleted at the end of the scope that uses it. */
export const newFolder = (): DisposableTempDir => mkdtempDisposableSync(join(tmpdir(), 'bench-'));

/** The database file of a bot in a folder. */
export const fileIn = (folder: string): string => join(folder, 'bot.sqlite');

/** Starts a file of the bench as a process, with a folder that is deleted when it stops. */
export async function start<T>(
  file: string,
  args: string[],
  { env = {} }: { env?: Record<string, string> } = {},
): Promise<Measured<T>> {
  const folder = newFolder();
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env, BENCH_FOLDER: folder.path },
  });
  const lines = createInterface({ input: child.stdout! });
  const failure = failed(child, file);
  failure.catch(() => undefined); // It ends when it is stopped, too.
  const [line] = (await Promise.race([once(lines, 'line'), failure])) as [string];
  return {
    child,
    ready: JSON.parse(line) as T,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.stdin!.end();
        await ended;
      }
      folder.remove();
    },
  };
}

async function failed(child: ChildProcess, file: string): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`${file} ended with code ${code} before it answered.`);
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
