import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { BARE_ENVIRONMENT } from './bare-environment.ts';
import { inTime } from './until.ts';

const ROOT = resolve(import.meta.dirname, '..');
const MAIN = resolve(ROOT, 'src/main.ts');
const MAX_TAIL_CHARACTERS = 20_000;

interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface StartedLine {
  msg: string;
  receiver: string;
  ops: string;
}

export type BotProcess = ReturnType<typeof launchBot>;

/** Starts `main` with `preloaded` modules, `within` a command that becomes it. */
export function launchBot(
  environment: Record<string, string | undefined>,
  {
    preloaded = [],
    within = [],
    main = MAIN,
    args = [],
  }: { preloaded?: string[]; within?: string[]; main?: string; args?: string[] } = {},
) {
  const imports = preloaded.flatMap((path) => ['--import', path]);
  const [command, ...rest] = [...within, process.execPath, ...imports, main, ...args];
  const env = { ...BARE_ENVIRONMENT, ...environment };
  const child = spawn(command!, rest, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], env });
  let tail = '';
  let stderr = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-MAX_TAIL_CHARACTERS);
      if (stream === child.stderr) stderr += text;
    });
  const lines = createInterface({ input: child.stdout });
  const started = Promise.withResolvers<StartedLine | null>();
  lines.on('line', (line) => {
    if (line.includes('"msg":"started"')) started.resolve(JSON.parse(line) as StartedLine);
  });
  child.once('exit', () => started.resolve(null));
  const exitOf = async (event: 'exit' | 'close'): Promise<Exit> => {
    const [code, signal] = (await once(child, event)) as [Exit['code'], Exit['signal']];
    return { code, signal };
  };
  const [exited, closed] = [exitOf('exit'), exitOf('close')];
  const ended = async () => ({ ...(await inTime('the bot ends', closed)), stderr });
  return {
    pid: child.pid!,
    lines,
    /** The last characters that it wrote, with its errors. */
    tail: () => tail,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Resolves once it reports that it started; null: it ended before. */
    started: () => inTime('the bot starts', started.promise),
    exit: exited,
    /** Resolves once it ended, also when nobody reads the log. */
    exited: () => inTime('the bot ends', exited),
    /** Resolves once it ended and its output is read, with everything that it wrote to standard error. */
    ended,
    async destroy() {
      child.kill('SIGKILL');
      child.stdout.resume();
      await ended();
    },
  };
}
