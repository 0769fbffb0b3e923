/** The real bot in its own process, which can be killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SECOND } from '../src/domain/clock.ts';
import type { BotState } from './page/protocol.ts';

/** How long the bot may take to stop before it is killed. */
const STOP_TIMEOUT_MS = 5 * SECOND;
const MAX_LINES = 40;

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** The bot: see {@link superviseBot}. */
export interface Bot {
  readonly state: BotState;
  /** The last lines of its log, without those of the level `debug`. */
  readonly log: readonly string[];
  start(): void;
  /** SIGKILL; resolves once the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM, and SIGKILL if that takes too long; resolves once the process is gone. */
  stop(): Promise<void>;
}

/**
 * Prepares the bot's process with exactly this environment. `start` runs it.
 *
 * @param options.inspect whether a debugger can attach to it.
 * @param options.onChange called whenever the state changes.
 * @param options.onLine called with each line of its log.
 * @param options.onCrash called when it exits without being asked to.
 */
export function superviseBot(options: {
  environment: Record<string, string>;
  inspect: boolean;
  onChange: () => void;
  onLine: (line: string) => void;
  onCrash: (bot: Bot) => void;
}): Bot {
  const flags = options.inspect ? ['--inspect'] : [];
  let state: BotState = { state: 'stopped', pid: null, starts: 0, since: Date.now(), note: null };
  let child: ChildProcess | undefined;
  let isEnding = false;
  let log: string[] = [];

  const update = (change: Partial<BotState>): void => {
    state = { ...state, since: Date.now(), ...change };
    options.onChange();
  };
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const ending = child;
    if (ending === undefined) return;
    isEnding = true;
    const gone = once(ending, 'exit');
    if (signal === 'SIGTERM') update({ state: 'stopping' });
    signalGroup(ending, signal);
    const timer = setTimeout(() => signalGroup(ending, 'SIGKILL'), STOP_TIMEOUT_MS);
    await gone;
    clearTimeout(timer);
  };

  const bot: Bot = {
    get state() {
      return state;
    },
    get log() {
      return log;
    },
    start() {
      if (child !== undefined) return;
      const started = spawn(
        process.execPath,
        [...flags, '--import', path('exit-with-parent.ts'), path('../src/main.ts')],
        {
          cwd: path('..'),
          env: options.environment,
          stdio: ['pipe', 'pipe', 'pipe'],
          detached: true,
        },
      );
      child = started;
      isEnding = false;
      for (const stream of [started.stdout, started.stderr])
        createInterface({ input: stream }).on('line', (line) => {
          options.onLine(line);
          if (!line.startsWith('{"level":20,')) log = [...log, line].slice(-MAX_LINES);
        });
      started.stdin.on('error', () => undefined);
      started.once('exit', (code, signal) => {
        child = undefined;
        update({
          state: 'stopped',
          pid: null,
          note: signal ? `It was stopped by ${signal}.` : `It exited with code ${code}.`,
        });
        if (!isEnding) options.onCrash(bot);
      });
      update({ state: 'running', pid: started.pid ?? null, starts: state.starts + 1, note: null });
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
  return bot;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // It has already exited.
  }
}
