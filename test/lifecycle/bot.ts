import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { type Dispatcher, request } from 'undici';
import { onTestFinished } from 'vitest';
import { seed, startDiscord } from '../../sandbox/discord/index.ts';
import { botEnvironment, PATH_TOKEN } from '../app.ts';
import { type BotProcess, launchBot } from '../bot-process.ts';
import { temporaryFolder } from '../folder.ts';
import { TREASURY } from '../pipeline/harness.ts';
import { withStore } from '../store/sqlite/database-file.ts';
import { inTime } from '../until.ts';

const FAULTS = resolve(import.meta.dirname, 'faults.ts');
const POINTS = resolve(import.meta.dirname, '../crash/points.ts');
/** Nobody answers there. */
const NO_DISCORD = { token: 'no-token', apiUrl: 'http://127.0.0.1:9/api' };

export const temporaryFile = (): string => join(temporaryFolder(), 'bot.sqlite');

export const WATCHING = {
  guildId: seed.harbor.id,
  channelId: seed.harbor.alerts,
  address: TREASURY,
  createdBy: seed.ada,
  createdAt: 1,
};

export async function watchingFile(): Promise<string> {
  const file = temporaryFile();
  await withStore(file, ({ subscriptions }) => subscriptions.add(WATCHING, 1));
  return file;
}

/** A stand-in for Discord until the test ends, and the environment of a bot that uses it. */
export async function startStandIn(options: Parameters<typeof startDiscord>[0] = {}) {
  const discord = await startDiscord({ limits: 'none', ...options });
  onTestFinished(() => discord.close());
  return { discord, environment: { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl } };
}

interface Line {
  msg: string;
  ms: number;
}

export type Bot = Awaited<ReturnType<typeof startBot>>;

/** Starts a bot, `within` a command that becomes it; it is killed after the test. */
export function launch(file: string, environment: Record<string, string>, within: string[] = []): BotProcess {
  const usual = {
    ...botEnvironment(NO_DISCORD, `sqlite:${file}`),
    RECEIVER_SOURCE_CHECK: 'off',
  };
  const bot = launchBot({ ...usual, ...environment }, { preloaded: [FAULTS, POINTS], within });
  onTestFinished(() => bot.destroy());
  return bot;
}

/** A command within which root may not write everything. */
export const AS_USER = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];

export const startInVain = (
  file: string,
  environment: Record<string, string> = {},
  within: string[] = [],
): ReturnType<BotProcess['ended']> => launch(file, environment, within).ended();

/** Starts the bot, `within` a command that becomes it, and waits until it reports that it started. */
export async function startBot(file: string, environment: Record<string, string> = {}, within: string[] = []) {
  const bot = launch(file, environment, within);
  const { lines } = bot;
  const log: Line[] = [];
  lines.on('line', (text) => log.push(JSON.parse(text) as Line));
  const nextLine = (message: string) => {
    const { promise, resolve } = Promise.withResolvers<Line>();
    const read = (text: string) => {
      const line = JSON.parse(text) as Line;
      if (line.msg !== message) return;
      lines.off('line', read);
      resolve(line);
    };
    lines.on('line', read);
    return inTime(`the bot logs “${message}”`, promise);
  };
  const started = await bot.started();
  if (!started) {
    const { code, stderr } = await bot.ended();
    throw new Error(`The bot ended with code ${code}: ${stderr}`);
  }
  const { receiver, ops } = started;
  return {
    ...bot,
    receiver,
    ops,
    unread: () => void lines.pause(),
    log: log as readonly Line[],
    nextLine,
    async post(body: string, options: { dispatcher?: Dispatcher; headersTimeout?: number } = {}): Promise<number> {
      const answer = await request(`${receiver}/hooks/${environment.RECEIVER_TOKEN ?? PATH_TOKEN}`, {
        method: 'POST',
        body,
        ...options,
      });
      await answer.body.dump();
      return answer.statusCode;
    },
    async database() {
      const { statusCode: status, body } = await request(`${ops}/readyz?part=database`);
      const { parts } = (await body.json()) as { parts: { database: { ready: boolean; detail?: string } } };
      return { status, ...parts.database };
    },
    async connect(): Promise<Socket> {
      const { hostname, port } = new URL(receiver);
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      await once(socket, 'connect');
      return socket;
    },
  };
}

/** Repeats a delivery until it gets 200, as senders do: a busy machine may not store it in time at first. */
export async function accepted(post: () => Promise<number>): Promise<void> {
  for (let status = 0; status !== 200; ) {
    status = await post();
    if (status !== 200 && status !== 503) throw new Error(`The delivery got ${status}.`);
  }
}

export const HALF = `POST /hooks/${PATH_TOKEN} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf`;
