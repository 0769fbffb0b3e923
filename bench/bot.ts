import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { fileIn, launch, TOKEN } from './children.ts';
import * as postgres from './postgres/database.ts';
import * as sqlite from './sqlite/database.ts';

/** What `npm start` runs in a shell. */
const START = packageJson.scripts.start;

/**
 * Starts the bot as a process of its own, with the database in a folder; `environment` names the Discord that it talks to, and
 * its Postgres if it has one; `onLog` gets each line of its log.
 */
export async function startBot(
  folder: string,
  environment: Record<string, string>,
  onLog: (line: string) => void = () => undefined,
) {
  const { child, ready, end } = await launch('sh', ['-c', START], {
    until: /"started"/,
    onLine: onLog,
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
  const { receiver } = JSON.parse(ready.input) as { receiver: string };
  const url = `${receiver}/hooks/${TOKEN}`;
  const { DATABASE_URL } = environment;
  const database = await (DATABASE_URL ? postgres.openWaiting(DATABASE_URL) : sqlite.openWaiting(fileIn(folder)));
  const close = async (signal: NodeJS.Signals) => {
    await database.close();
    await end(signal);
  };
  return {
    pid: child.pid!,
    /** Where deliveries are posted to. */
    url,
    /** What waits: deliveries to be routed, alerts to be posted. */
    waiting: database.waiting,
    stop: () => close('SIGTERM'),
    /** Ends it at once, like a crash. */
    kill: () => close('SIGKILL'),
  };
}

/** A process's resident memory, in MiB. */
export function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024;
}
