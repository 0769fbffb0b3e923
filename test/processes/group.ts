import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import type { Discord } from '../../sandbox/discord/index.ts';
import { freePorts } from '../../sandbox/ports.ts';
import { EX_TEMPFAIL } from '../../src/errors.ts';
import { botEnvironment, PATH_TOKEN } from '../app.ts';
import { type BotProcess, launchBot } from '../bot-process.ts';
import { type Cable, layCable } from '../store/postgres/cable.ts';

export interface Member {
  name: string;
  receiver: string;
  cable: Cable;
  log(): string;
  signal(signal: NodeJS.Signals): void;
  ended(): Promise<unknown>;
  start(): void;
  /** The role that it reports; null: it does not respond. */
  role(): Promise<string | null>;
  isReady(): Promise<boolean>;
}

/** A running process reports its readiness within this time; a stopped one never does. */
const RESPONSE_MS = 500;
/** The pause before each request: these must not be the load. */
const PAUSE_MS = 50;

export async function startGroup(names: readonly string[], discord: Discord, database: string, folder: string) {
  await using stack = new AsyncDisposableStack();
  const url = new URL(database);
  const members = await Promise.all(names.map((name) => createMember(name)));
  for (const member of members) member.start();

  async function createMember(name: string): Promise<Member> {
    const [port, opsPort] = await freePorts(2);
    const cable = stack.adopt(await layCable(Number(url.port)), (it) => it.close());
    const environment = {
      ...botEnvironment(discord, database.replace(`:${url.port}/`, `:${cable.port}/`)),
      PORT: String(port),
      OPS_PORT: String(opsPort),
      SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
      RECEIVER_SOURCES: '127.0.0.1',
      LOG_LEVEL: 'info',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? folder,
    };
    let bot: BotProcess | undefined;
    stack.defer(() => bot?.destroy());
    /** Starts it, and starts it again as its supervisor does when it lost the lock of the working process. */
    function start(): void {
      const started = launchBot(environment);
      bot = started;
      void started.exit.then(({ code }) => {
        if (code === EX_TEMPFAIL && bot === started) start();
      });
    }
    const ask = async (path: string) => {
      await wait(PAUSE_MS);
      try {
        const signal = AbortSignal.timeout(RESPONSE_MS);
        const { statusCode, body } = await request(`http://127.0.0.1:${opsPort}${path}`, { signal });
        return { status: statusCode, ...((await body.json()) as { role: string }) };
      } catch {
        return null;
      }
    };
    return {
      name,
      receiver: `http://127.0.0.1:${port}/hooks/${PATH_TOKEN}`,
      cable,
      log: () => bot!.tail(),
      signal: (signal) => bot!.kill(signal),
      ended: () => bot!.exited(),
      start,
      role: async () => (await ask('/readyz'))?.role ?? null,
      isReady: async () => (await ask('/readyz?part=database'))?.status === 200,
    };
  }
  const ends = stack.move();

  return {
    members,
    /** The member that works now; null: none, or none that responds. */
    async worker(): Promise<Member | null> {
      const roles = await Promise.all(members.map((member) => member.role()));
      return members.find((_, index) => roles[index] === 'working') ?? null;
    },
    close: () => ends.disposeAsync(),
  };
}

export type Group = Awaited<ReturnType<typeof startGroup>>;
