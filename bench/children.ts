import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type DisposableTempDir, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A measured process. It writes lines of JSON, the first one when it is ready. */
export interface Measured<T> {
  child: ChildProcess;
  ready: T;
  /** Sends it a request and waits for its next line. */
  ask<A>(question: string): Promise<A>;
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
  { env = {}, flags = [] }: { env?: Record<string, string>; flags?: string[] } = {},
): Promise<Measured<T>> {
  const folder = newFolder();
  const child = spawn(process.execPath, [...flags, file, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env, BENCH_FOLDER: folder.path },
  });
  const lines = createInterface({ input: child.stdout! });
  const failure = failed(child, file);
  failure.catch(() => undefined); // The caller that waits for a line gets the error.
  const next = async <A>() => {
    const [line] = (await Promise.race([once(lines, 'line'), failure])) as [string];
    return JSON.parse(line) as A;
  };
  const ready = await next<T>();
  return {
    child,
    ready,
    async ask(question) {
      const answer = next<never>();
      child.stdin!.write(`${question}\n`);
      return answer;
    },
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

/** Runs within a measured process: reports that it is ready, responds to requests, and exits when its parent does. */
export function serve(ready: unknown, answer: (question: string) => unknown): void {
  process.stdout.write(`${JSON.stringify(ready)}\n`);
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (question) => {
    void Promise.resolve(answer(question)).then((result) => process.stdout.write(`${JSON.stringify(result)}\n`));
  });
  // The parent's end of this pipe closes however the parent ends.
  lines.on('close', () => process.exit(0));
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
