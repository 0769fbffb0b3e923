import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SECOND } from '../src/domain/clock.ts';
import type { BotState } from './page/protocol.ts';

const STOP_TIMEOUT_MS = 5 * SECOND;
const MAX_LINES = 40;

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

export interface Bot {
  readonly state: BotState;
  /** The last lines, without those of the level `debug`. */
  readonly log: readonly string[];
  start(): void;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Returns the bot's process, not yet started. It gets exactly `environment()` of the moment of its start.
 *
 * @param options.inspect whether a debugger can attach to it.
 * @param options.onCrash called when it exits without being asked to.
 */
export function superviseBot(options: {
  environment: () => Record<string, string>;
  inspect: boolean;
  onChange: () => void;
  onLine: (line: string) => void;
  onCrash: (bot: Bot) => void;
}): Bot {
  let log: readonly string[] = [];
  let state: BotState = { state: 'stopped', pid: null, starts: 0, since: Date.now(), note: null };
  let running: { child: ChildProcess; isEnding: boolean } | undefined;

  function update(change: Partial<BotState>): void {
    state = { ...state, since: Date.now(), ...change };
    options.onChange();
  }

  function start(): void {
    if (running !== undefined) return;
    const child = spawnBot(options.environment(), options.inspect);
    const started = { child, isEnding: false };
    running = started;
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        options.onLine(line);
        if (!line.startsWith('{"level":20,')) log = [...log, line].slice(-MAX_LINES);
      });
    child.stdin.on('error', () => undefined);
    child.once('exit', (code, signal) => {
      running = undefined;
      const note = signal ? `It was stopped by ${signal}.` : `It exited with code ${code}.`;
      update({ state: 'stopped', pid: null, note });
      if (!started.isEnding) options.onCrash(bot);
    });
    update({ state: 'running', pid: child.pid ?? null, starts: state.starts + 1, note: null });
  }

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (running === undefined) return;
    running.isEnding = true;
    const { child } = running;
    const gone = once(child, 'exit');
    if (signal === 'SIGTERM') update({ state: 'stopping' });
    signalGroup(child, signal);
    const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), STOP_TIMEOUT_MS);
    await gone;
    clearTimeout(timer);
  }

  const bot: Bot = {
    get state() {
      return state;
    },
    get log() {
      return log;
    },
    start,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
  return bot;
}

function spawnBot(environment: Record<string, string>, inspect: boolean) {
  const flags = [...(inspect ? ['--inspect'] : []), '--import', path('exit-with-parent.ts')];
  return spawn(process.execPath, [...flags, path('bot-main.ts')], {
    cwd: path('..'),
    env: environment,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // It has already exited.
  }
}
