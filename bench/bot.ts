import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { request } from 'undici';
import packageJson from '../package.json' with { type: 'json' };
import { fileIn, TOKEN } from './children.ts';
import { watch } from './postgres/watch.ts';
import { openWaiting } from './sqlite/waiting.ts';

/** The bot as a separate process, with a prepared database. */
export interface Bot {
  pid: number;
  /** Milliseconds from the start of the process until its log line "started". */
  startMs: number;
  /** The operator's server. */
  ops: string;
  /** Where deliveries are posted to. */
  url: string;
  post(body: string): Promise<number>;
  /** What waits: deliveries to be routed, alerts to be posted. */
  waiting(): Promise<{ inbox: number; alerts: number }>;
  stop(): Promise<void>;
  /** Kills it at once, like a crash. */
  kill(): Promise<void>;
}

/** What `npm start` runs in a shell. */
const START = packageJson.scripts.start;

/**
 * Starts the bot; `environment` names the Discord that it talks to, and its Postgres if it has one; `onLog` gets each line of
 * its log.
 */
export async function startBot(
  folder: string,
  environment: Record<string, string>,
  onLog: (line: string) => void = () => undefined,
): Promise<Bot> {
  const began = performance.now();
  const child = spawn('sh', ['-c', START], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      PORT: '0',
      OPS_PORT: '0',
      DATABASE_URL: `sqlite:${fileIn(folder)}`,
      RECEIVER_TOKEN: TOKEN,
      RECEIVER_SOURCES: '127.0.0.1',
      LOG_LEVEL: 'info',
      ...environment,
    },
  });
  // A measurement that fails must not leave the process running, which would slow down the next ones.
  const orphaned = () => void child.kill('SIGKILL');
  process.once('exit', orphaned);
  child.once('exit', () => process.off('exit', orphaned));
  const lines = createInterface({ input: child.stdout });
  const started = Promise.withResolvers<{ receiver: string; ops: string }>();
  lines.on('line', (line) => {
    onLog(line);
    if (line.includes('"started"')) started.resolve(JSON.parse(line) as { receiver: string; ops: string });
  });
  child.once('exit', (code) => started.reject(new Error(`The bot ended with code ${code}.`)));
  const { receiver, ops } = await started.promise;
  const startMs = performance.now() - began;
  const url = `${receiver}/hooks/${TOKEN}`;
  const { DATABASE_URL } = environment;
  const database = DATABASE_URL ? await watch(DATABASE_URL) : openWaiting(fileIn(folder));
  const end = async (signal: NodeJS.Signals) => {
    await database.close();
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return {
    pid: child.pid!,
    startMs,
    ops,
    url,
    async post(body) {
      const answer = await request(url, { method: 'POST', body });
      await answer.body.dump();
      return answer.statusCode;
    },
    waiting: database.waiting,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

/** A process's resident memory, in MiB. */
export function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024;
}
