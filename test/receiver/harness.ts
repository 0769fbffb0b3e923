import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { request } from 'undici';
import { expect, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import type { AppOverrides } from '../../src/app/context.ts';
import { startApp } from '../../src/app.ts';
import { StoreError } from '../../src/errors.ts';
import { createSeal } from '../../src/secrets.ts';
import type { Store } from '../../src/store/store.ts';
import { configOf, noGateway, readLog } from '../app.ts';
import { createMachine } from '../pipeline/time.ts';
import { replaceMethods } from '../store/replaced.ts';
import { takeStore } from '../store/sqlite/reused.ts';
import { inTime, until } from '../until.ts';

export const TOKEN = 'a-path-token-of-this-test';
export const OTHER_TOKEN = 'the-other-active-token';
/** The scope of {@link OTHER_TOKEN}. */
export const OTHER_SCOPE = 1;

const KEY = Buffer.alloc(32, 7);
const LOST_KEY = Buffer.alloc(32, 8);

/** Nobody is subscribed to anything, so nothing is posted. */
const DISCORD = { token: 'x', apiUrl: 'http://127.0.0.1:9/api' };

interface OwnProject {
  /** The path token of its receiver URL. */
  token: string;
  signingSecrets?: string[];
  /** The key that sealed it is lost. */
  isLost?: boolean;
}

interface HarnessOptions extends Pick<AppOverrides, 'limits' | 'headers'> {
  environment?: Record<string, string>;
  /** The servers with a project of their own; their scopes are 1, 2, and so on. */
  projects?: OwnProject[];
  /** Replaces methods of the inbox that the receiver stores in. */
  inbox?: (real: Store['inbox']) => Partial<Store['inbox']>;
}

/**
 * The bot over a database of its own, on a clock that stands still: no deadline passes, however long a busy machine takes.
 * It routes nothing, so the inbox shows what was received. `close` ends the bot and its database.
 */
export async function openReceiver({
  environment = {},
  projects = [{ token: OTHER_TOKEN }],
  inbox = () => ({}),
  limits,
  headers,
}: HarnessOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const taken = stack.adopt(await takeStore(), (it) => it.giveBack());
  const database = await taken.open();
  const clock = createManualClock();
  let aged = 0;
  const machine = createMachine(clock, () => clock.elapsed() + aged);
  await addProjects(database.store, projects);
  const routing = createHeldRouting();
  const logged: string[] = [];
  const config = configOf(DISCORD, taken.file, {
    RECEIVER_TOKEN: TOKEN,
    SECRETS_KEY: KEY.toString('base64'),
    DISK_RESERVE_MB: '0',
    ...environment,
  });
  const app = await startApp(config, {
    database: {
      ...database,
      store: replaceMethods(routing.hold(database.store), (real) => ({ inbox: inbox(real.inbox) })),
    },
    clock: machine,
    log: readLog('trace', (line) => void logged.push(line)),
    connect: noGateway,
    ...(limits && { limits }),
    ...(headers && { headers }),
  });
  stack.defer(app.close);
  stack.defer(routing.giveUp);
  const { store, receiver, working } = app.internals;
  const { services } = working();
  const { admission } = receiver;
  const url = new URL(app.receiver);
  const { get, ...client } = createClient(url, app.ops);
  const ends = stack.move();

  return {
    file: taken.file,
    store,
    services,
    admission,
    stopAdmitting: receiver.stopAdmitting,
    close: () => ends.disposeAsync(),
    logged,
    metrics: async () => (await get('/metrics')).text,
    url: url.origin,
    ...client,
    /** Sends the first two of four bytes, and waits until the receiver waits for the rest. */
    async sendHalf(): Promise<Socket> {
      const socket = await client.open();
      socket.write(`${head(4)}ha`);
      await until('1 request is open', () => admission.openRequests() === 1);
      return socket;
    },
    advance: clock.advance,
    /** Lets time pass in which no timer runs. */
    age(ms: number): void {
      aged += ms;
    },
    jump: machine.jump,
    /** Why requests were refused, in order, with the source where there is one; expects the same counts in the metrics. */
    async refused(): Promise<string[]> {
      const refusals = logged
        .map((line) => JSON.parse(line) as Refusal & { msg: string })
        .filter(({ msg }) => msg === 'request rejected');
      const byReason = Map.groupBy(refusals, ({ reason }) => reason);
      const expected = new Map([...byReason].map(([reason, all]) => [reason, all.length]));
      expect(refusalsIn((await get('/metrics')).text)).toEqual(expected);
      return refusals.map(({ reason, source }) => [reason, source?.source, source?.reason].filter(Boolean).join(' '));
    },
    /** Why the database cannot be used, as the operator's server shows it; null: it can. */
    async databaseFault(): Promise<string | null> {
      const { status, text } = await get('/readyz?part=database');
      const { detail } = (JSON.parse(text) as { parts: { database: { detail?: string } } }).parts.database;
      return status === 200 ? null : (detail ?? text);
    },
    /** The stored deliveries, as [scope, body]. */
    stored: async () => (await store.inbox.next(100)).map(({ scope, body }) => [scope, Buffer.from(body).toString()]),
  };
}

function createClient(receiver: URL, ops: string) {
  async function read(sent: ReturnType<typeof request>) {
    const { statusCode, body } = await sent;
    return { status: statusCode, text: await body.text() };
  }
  return {
    get: (path: string) => read(request(ops + path)),
    post: (path: string, body: string | Buffer, { method = 'POST', headers = {} }: PostOptions = {}) =>
      read(request(receiver.origin + path, { method: method as 'POST', body, headers })),
    /** Opens a connection to the receiver; `from`: another address of this machine. */
    async open(from?: string): Promise<Socket> {
      const { port, hostname } = receiver;
      const socket = connect({ port: Number(port), host: hostname, ...(from && { localAddress: from }) });
      socket.on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      await once(socket, 'connect');
      return socket;
    },
  };
}

interface PostOptions {
  method?: string;
  headers?: Record<string, string | string[]>;
}

interface Refusal {
  reason: string;
  source: { source: string; reason: string } | null;
}

/** Stores projects, each of another server, as an earlier process of the bot would have. */
async function addProjects(store: Store, projects: readonly OwnProject[]): Promise<void> {
  for (const [index, { token, signingSecrets = [], isLost }] of projects.entries()) {
    const guildId = String(1_000 + index);
    const keys = { apiKey: 'public-key', apiSecret: 'very-secret', signingSecrets };
    const sealed = createSeal([isLost ? LOST_KEY : KEY]).seal(JSON.stringify(keys), guildId);
    const project = { guildId, projectId: `p${index}`, sealed, signed: signingSecrets.length > 0 };
    expect(await store.projects.save(project, token)).toBe(index + 1);
  }
}

/** How many requests were refused for each reason. */
const refusalsIn = (metrics: string): Map<string, number> =>
  new Map(
    [...metrics.matchAll(/^ledgerbell_refused_total\{reason="([^"]+)"\} (\d+)$/gm)]
      .map(([, reason = '', count]) => [reason, Number(count)] as const)
      .filter(([, count]) => count > 0),
  );

/** Lets the router wait at its first read until the end of the test. */
function createHeldRouting() {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  ended.catch(() => undefined);
  return {
    giveUp: (): void => reject(new StoreError('The test is over.', 'SQLITE_BUSY')),
    hold: (store: Store): Store => ({ ...store, routing: { ...store.routing, context: () => ended } }),
  };
}

export type Receiver = Awaited<ReturnType<typeof openReceiver>>;

export async function startReceiver(options: HarnessOptions = {}): Promise<Receiver> {
  const receiver = await openReceiver(options);
  onTestFinished(receiver.close);
  return receiver;
}

/** The head of a delivery whose body has `length` bytes; `more`: further lines, each with its end. */
export const head = (length: number, path = `/hooks/${TOKEN}`, more = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n${more}\r\n`;

export async function firstLine(socket: Socket): Promise<string> {
  const [data] = (await inTime('the receiver responds', once(socket, 'data'))) as [Buffer];
  return data.toString().split('\r\n')[0]!;
}
