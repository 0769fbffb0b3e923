import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A running program that takes webhooks and posts to Discord. */
export interface Running {
  /** The URL for this channel's events. */
  urlOf(channel: string): string;
  /** Ends all its processes at once, with SIGKILL. */
  kill(): Promise<void>;
}

/** A program to measure. */
export interface Peer {
  name: string;
  /** Only its rate is measured: it posts nothing. */
  isBound?: true;
  /** How long after a start it may post nothing and still continue later. */
  patienceMs: number;
  /** Starts it with its data in this folder, which is empty at first; fails with the reason if that is not possible. */
  start(folder: string, apiUrl: string): Promise<Running>;
}

/** A process that is ready. */
export interface Program {
  /** Its output. */
  ready: RegExpExecArray;
  kill(): Promise<void>;
}

const READY_MS = 60_000;

/** Starts a program and waits until its output matches `until`; fails with its last output. */
export async function startProgram(
  command: string,
  args: string[],
  { until, env = {} }: { until: RegExp; env?: Record<string, string> },
): Promise<Program> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: 'pipe' });
  const killNow = () => void child.kill('SIGKILL');
  process.once('exit', killNow);
  const ended = once(child, 'close').catch(() => undefined);
  const kill = async () => {
    process.off('exit', killNow);
    killNow();
    await ended;
  };
  let output = '';
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
  const fail = (what: string) => reject(new Error(`${command} ${what}: ${output.trim().slice(-300)}`));
  const timer = setTimeout(() => fail(`was not ready within ${READY_MS / 1_000} s`), READY_MS);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-10_000);
      const match = until.exec(output);
      if (match) resolve(match);
    });
  }
  child.once('error', (error) => fail(error.message));
  child.once('exit', (code) => fail(`ended with code ${code}`));
  try {
    return { ready: await promise, kill };
  } catch (error) {
    await kill();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
