import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeFolder } from '../../src/domain/folder.ts';

const run = promisify(execFile);

/** A running program that takes webhooks and posts to Discord. */
export interface Running {
  /** The URL for this channel's events. */
  urlOf(channel: string): string;
  /** Resident memory of all its processes, in MiB. */
  memory(): number;
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
  /** Installs it into a folder that is kept; fails with the reason if that is not possible. */
  install?(): Promise<void>;
  /** Starts it with its data in this folder, which is empty at first. */
  start(folder: string, apiUrl: string): Promise<Running>;
}

/** A process that is ready, with its child processes. */
export interface Program {
  /** Its output. */
  ready: RegExpExecArray;
  memory(): number;
  kill(): Promise<void>;
}

/** Starts a program and waits until its output matches `until`; fails with its last output. */
export async function startProgram(
  command: string,
  args: string[],
  { until, env = {}, withinMs = 60_000 }: { until: RegExp; env?: Record<string, string>; withinMs?: number },
): Promise<Program> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: 'pipe' });
  const killAll = () => {
    for (const pid of treeOf(child.pid!)) kill(pid);
  };
  process.once('exit', killAll);
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const end = async () => {
    process.off('exit', killAll);
    killAll();
    await ended;
  };
  try {
    const ready = await saying(child, until, withinMs);
    return { ready, memory: () => treeOf(child.pid!).reduce((sum, pid) => sum + memoryOf(pid), 0), kill: end };
  } catch (error) {
    if (child.pid !== undefined) await end();
    throw error;
  }
}

async function saying(child: ChildProcess, until: RegExp, withinMs: number): Promise<RegExpExecArray> {
  let output = '';
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
  const fail = (what: string) => reject(new Error(`${child.spawnfile} ${what}: ${output.trim().slice(-300)}`));
  const timer = setTimeout(() => fail(`was not ready within ${withinMs / 1_000} s`), withinMs);
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-10_000);
      const match = until.exec(output);
      if (match) resolve(match);
    });
  }
  child.once('error', (error) => fail(error.message));
  child.once('exit', (code) => fail(`ended with code ${code}`));
  return promise.finally(() => clearTimeout(timer));
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already exited.
  }
}

/** A process and all its descendants. */
function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    // The second field is a name in parentheses, which may contain anything; the parent is the second field after it.
    const parent = /\) \S (\d+)/.exec(/^\d+$/.test(name) ? textOf(`/proc/${name}/stat`) : '')?.[1];
    if (parent) children.set(Number(parent), [...(children.get(Number(parent)) ?? []), Number(name)]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) / 1_024;

/** A file of /proc; empty if the process has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The folder with this installation, created by `install` unless an earlier run did. */
export async function installed(name: string, install: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = join(tmpdir(), 'ledgerbell-bench-peers', name);
  const done = join(folder, 'installed');
  if (existsSync(done)) return folder;
  process.stdout.write(`Installing ${name} into ${folder} …\n`);
  rmSync(folder, { recursive: true, force: true });
  makeFolder(folder);
  await install(folder).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true });
    const { killed, stderr, message } = error as { killed?: boolean; stderr?: string; message: string };
    const reason =
      (stderr ?? '')
        .match(/^(?:npm error|E:) .*$/gm)
        ?.slice(0, 3)
        .join(' ') || message;
    throw new Error(`${name} could not be installed${killed ? ' in time' : ''}: ${reason.slice(0, 300)}`);
  });
  writeFileSync(done, '');
  return folder;
}

/** Installs npm packages in exactly these versions. */
export async function installPackages(
  folder: string,
  manifest: object,
  withinMs = 5 * 60_000,
  flags: string[] = [],
): Promise<void> {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...manifest }));
  await run('npm', ['install', '--no-audit', '--no-fund', ...flags], {
    cwd: folder,
    timeout: withinMs,
    maxBuffer: 2 ** 26,
  });
}

/** Unpacks packages of Debian, without installing them into the system. */
export async function unpackDebian(folder: string, packages: string[]): Promise<void> {
  await run('apt-get', ['download', ...packages], { cwd: folder, timeout: 2 * 60_000 });
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb'))) {
    await run('dpkg', ['-x', join(folder, file), folder]);
  }
}
