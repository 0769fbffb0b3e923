import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import type { MessageState } from '../../sandbox/discord/control.ts';
import type { PageEvent, WorldState } from '../../sandbox/page/protocol.ts';
import { type Shown, shownIn } from '../discord/shown.ts';
import { eventsOf } from '../discord-stand-in/bot.ts';
import { afterFile } from '../for-file.ts';
import { inTime } from '../until.ts';

const root = resolve(import.meta.dirname, '../..');

export interface Run {
  child: ChildProcess;
  /** The sandbox's temporary folder, empty at first. */
  temporary: string;
  output(): string;
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit code, or null when a signal ended it. */
  ended(): Promise<number | null>;
}

/** Starts `sandbox/main.ts` with arguments; it ends after the test, or `after` what is given. Port 0 picks a free one. */
export function run(
  port: string,
  temporary = mkdtempSync(join(tmpdir(), 'sandbox-test-')),
  args: readonly string[] = [],
  after: (end: () => Promise<void>) => void = onTestFinished,
): Run {
  const child = spawn(process.execPath, ['sandbox/main.ts', ...args], {
    cwd: root,
    env: { ...process.env, SANDBOX_PORT: port, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      child.emit('printed');
    });
  const closed = once(child, 'close').then(([code]) => code as number | null);
  const ended = () => inTime('the sandbox ends', closed);
  after(async () => {
    child.kill('SIGINT');
    await ended();
    rmSync(temporary, { recursive: true, force: true });
  });
  const printed = (pattern: RegExp): Promise<RegExpExecArray> =>
    inTime(
      `the sandbox prints ${pattern}`,
      new Promise((found, fail) => {
        const look = (): void => {
          const match = pattern.exec(text);
          if (match) found(match);
        };
        child.on('printed', look);
        void closed.then(() => fail(new Error(`The sandbox ended and printed:\n${text}`)));
        look();
      }),
    );
  return { child, temporary, output: () => text, printed, ended };
}

export async function addressOf(started: Run): Promise<string> {
  return (await started.printed(/browser:\s+(http:\/\/127\.0\.0\.1:\d+)\n/))[1]!;
}

/** A sandbox that tests of a file share, started when the first one asks: for those that do not need its world as it is at first. */
export function sharedSandbox(): () => Promise<string> {
  let address: Promise<string> | undefined;
  return () => (address ??= addressOf(run('0', undefined, [], afterFile)));
}

export function familyOf(pid: number): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const family = [pid];
  for (const one of family) family.push(...pairs.filter(([, parent]) => parent === one).map(([child]) => child));
  return family;
}

export function living(pids: readonly number[]): number[] {
  const states = execFileSync('ps', ['-eo', 'pid=,stat='], { encoding: 'utf8' }).trim().split('\n');
  const running = states.map((line) => line.trim().split(/\s+/)).filter(([, state]) => !state!.startsWith('Z'));
  return running.map(([pid]) => Number(pid)).filter((pid) => pids.includes(pid));
}

export interface News {
  world(): WorldState;
  /** The texts of a channel's messages, oldest first. */
  shown(channelId: string): Shown[];
  messages(channelId: string): MessageState[];
  /** Resolves as soon as the condition holds. It is checked now and after each event. An error names `what` was waited for. */
  until(what: string, condition: () => boolean): Promise<void>;
}

/** Performs an action of the page; returns the response's status and its sentence. */
export async function act(url: string, action: unknown): Promise<[status: number, sentence: string]> {
  const response = await fetch(`${url}/_sandbox/act`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(action),
  });
  const { error, message } = (await response.json()) as { error?: string; message?: string };
  return [response.status, error ?? message ?? ''];
}

export async function follow(url: string): Promise<News> {
  const messages = new Map<string, MessageState>();
  const checks = new Set<() => void>();
  let world: WorldState | undefined;
  const learn = (news: PageEvent): void => {
    if (news.type === 'hello') for (const message of news.discord.messages) messages.set(message.id, message);
    if (news.type === 'hello' || news.type === 'world') world = news.world;
    if (news.type === 'discord' && news.event.type === 'message')
      messages.set(news.event.message.id, news.event.message);
    for (const check of checks) check();
  };
  const listen = async (): Promise<void> => {
    for await (const news of eventsOf<PageEvent>(`${url}/_sandbox/events`)) learn(news);
  };
  void listen().catch(() => undefined);
  const until = (what: string, condition: () => boolean): Promise<void> =>
    inTime(
      what,
      new Promise((done) => {
        const check = (): void => {
          if (!condition()) return;
          checks.delete(check);
          done();
        };
        checks.add(check);
        check();
      }),
    );
  await until('the page’s first event arrives', () => world !== undefined);
  const inChannel = (channelId: string): MessageState[] =>
    [...messages.values()].filter((message) => message.channelId === channelId && !message.deleted);
  return {
    world: () => world!,
    messages: inChannel,
    shown: (channelId) => inChannel(channelId).flatMap(({ message }) => shownIn(message)),
    until,
  };
}
