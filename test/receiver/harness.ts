import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { request } from 'undici';
import { onTestFinished } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { createIntake } from '../../src/receiver/intake.ts';
import { createReceiver, type PathToken } from '../../src/receiver/server.ts';
import { openStore } from '../../src/store/sqlite/client.ts';
import type { Store } from '../../src/store/store.ts';

export const TOKEN = 'a-path-token-of-this-test';
export const OTHER_TOKEN = 'the-other-active-token';

/** What a test may put in the place of the usual. */
interface CommandServices {
  environment?: Record<string, string>;
  tokens?: () => PathToken[];
  now?: () => number;
  /** Default: no deadline passes, however long a busy machine takes. */
  after?: Clock['after'];
  /** Stands between the receiver and its database. */
  between?: (store: Store) => Store;
}

/** The receiver over a database of its own; both go with the test. */
export async function startReceiver({
  environment = {},
  now = Date.now,
  after = () => () => undefined,
  between = (store) => store,
  tokens = () => [
    { token: TOKEN, scope: 0 },
    { token: OTHER_TOKEN, scope: 3 },
  ],
}: CommandServices = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'receiver-'));
  const file = join(directory, 'test.sqlite');
  const { store, close: closeStore } = await openStore(file);
  const refused: string[] = [];
  const logged: string[] = [];
  const intake = createIntake({ store: between(store), now, onStored: () => undefined });
  const app = createReceiver({
    config: readConfig({ DISCORD_TOKEN: 'x', RECEIVER_SOURCE_CHECK: 'off', ...environment }),
    intake,
    tokens,
    now,
    after,
    log: pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) }),
    onRefused: (reason, source) => refused.push(`${reason} ${source ?? ''}`.trim()),
    onReceived: () => undefined,
  });
  const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  onTestFinished(async () => {
    app.server.closeAllConnections();
    await app.close();
    await closeStore();
    rmSync(directory, { recursive: true });
  });

  return {
    file,
    store,
    intake,
    /** Reasons in order, with the source where there is one. */
    refused,
    logged,
    url: url.origin,
    async post(
      path: string,
      body: string | Buffer,
      options: { method?: string; headers?: Record<string, string> } = {},
    ) {
      const answer = await request(url.origin + path, {
        method: (options.method ?? 'POST') as 'POST',
        body,
        headers: options.headers ?? {},
      });
      return { status: answer.statusCode, text: await answer.body.text() };
    },
    /** What is stored, as [scope, body]. */
    stored: async () => (await store.inbox.next(100)).map(({ scope, body }) => [scope, Buffer.from(body).toString()]),
    /** A connection, open. */
    async open(): Promise<Socket> {
      const socket = connect(Number(url.port), url.hostname);
      socket.on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
      return socket;
    },
  };
}

/** A receiver under test. */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** The head of a delivery whose body is announced with `length` bytes; `more` is whole lines. */
export const head = (length: number, path = `/hooks/${TOKEN}`, more = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n${more}\r\n`;

/** The first line of the next answer. */
export async function firstLine(socket: Socket): Promise<string> {
  const data = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
  return data.toString().split('\r\n')[0]!;
}
