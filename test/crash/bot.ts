import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const POINTS = resolve(import.meta.dirname, 'points.ts');

/** The bot as a process of its own. */
export interface Bot {
  /** Resolves with true once it reports that it started, with false if it ended before. */
  started: Promise<boolean>;
  /** Resolves once it ended. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill(signal: NodeJS.Signals): void;
  /** The last lines of its log. */
  log(): string;
}

/** The variables that make the bot a mutant, if this process is one. */
const mutant = process.env.MUTANT ? { MUTANT: process.env.MUTANT, NODE_OPTIONS: process.env.NODE_OPTIONS } : {};

/** Starts `src/main.ts`; `point`: where it kills itself; null: nowhere. */
export function startBot(environment: Record<string, string>, point: string | null): Bot {
  const bot: ChildProcess = spawn(process.execPath, ['--import', POINTS, 'src/main.ts'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, ...mutant, ...environment, ...(point ? { CRASH_POINT: point } : {}) },
  });
  let log = '';
  const started = new Promise<boolean>((settle) => {
    const read = (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-20_000);
      if (log.includes('"msg":"started"')) settle(true);
    };
    bot.stdout!.on('data', read);
    bot.stderr!.on('data', read);
    bot.once('exit', () => settle(false));
  });
  const ended = once(bot, 'exit').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  return { started, ended, kill: (signal) => void bot.kill(signal), log: () => log };
}
