import { connect, type Socket } from 'node:net';
import pino from 'pino';
import { request } from 'undici';
import { onTestFinished } from 'vitest';
import { quotaLimits, readConfig } from '../../src/config.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { createAcks } from '../../src/receiver/acks.ts';
import { createAdmission } from '../../src/receiver/admission.ts';
import { createQuarantineLimit } from '../../src/receiver/quarantine.ts';
import { createQuotas } from '../../src/receiver/quotas.ts';
import { createSignatureCheck, type SignatureFault } from '../../src/receiver/signature.ts';
import { startReceiver as start } from '../../src/receiver/start.ts';
import { indexTokens, type PathToken } from '../../src/receiver/token-index.ts';
import type { Store } from '../../src/store/store.ts';
import { takeStore } from '../store/sqlite/reused.ts';

export const TOKEN = 'a-path-token-of-this-test';
export const OTHER_TOKEN = 'the-other-active-token';

/** What a test may put in the place of the usual. */
interface HarnessOptions {
  environment?: Record<string, string>;
  tokens?: PathToken[];
  maxConnections?: number;
  /** Milliseconds; default: the usual. */
  headers?: { headersTimeout: number; connectionsCheckingInterval: number };
  /** By scope. */
  signingSecrets?: Record<number, string[]>;
  now?: () => number;
  /** Default: no deadline passes, however long a busy machine takes. */
  after?: Clock['after'];
  /** Wraps the store. */
  between?: (store: Store) => Store;
}

/** The receiver over a database of its own; `close` ends both. */
export async function openReceiver({
  environment = {},
  now = Date.now,
  after = () => () => undefined,
  between = (store) => store,
  signingSecrets = {},
  tokens = [
    { token: TOKEN, scope: 0 },
    { token: OTHER_TOKEN, scope: 3 },
  ],
  maxConnections = 10_000,
  headers,
}: HarnessOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const { file, open } = stack.adopt(await takeStore(), (it) => it.giveBack());
  const { store } = stack.adopt(await open(), (it) => it.close());
  const refused: string[] = [];
  const badSignatures: [scope: number, fault: SignatureFault][] = [];
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const acks = createAcks();
  const config = readConfig({ DISCORD_TOKEN: 'x', PORT: '0', RECEIVER_SOURCE_CHECK: 'off', ...environment });
  const quotas = createQuotas({ limits: quotaLimits(config), reserveBytes: 0, now });
  const quarantine = createQuarantineLimit(store, quotas, log);
  const receiver = await start({
    config,
    store: between(store),
    acks,
    admission: createAdmission(now),
    scopeOf: indexTokens(tokens),
    maxConnections,
    ...(headers && { headers }),
    now,
    after,
    log,
    quotas,
    onStored: () => undefined,
    checkSignature: createSignatureCheck((scope) => signingSecrets[scope] ?? null, now),
    onBadSignature: (fault, scope) => badSignatures.push([scope, fault]),
    onRefused: (reason, source) => refused.push([reason, source?.source, source?.reason].filter(Boolean).join(' ')),
    onReceived: () => undefined,
  });
  const url = new URL(receiver.url);
  stack.defer(receiver.close);
  const ends = stack.move();
  const close = () => ends.disposeAsync();

  return {
    file,
    store,
    acks,
    quarantine,
    quotas,
    intake: receiver.intake,
    close,
    /** Reasons in order, with the source where there is one. */
    refused,
    badSignatures,
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
    /** A connection, open; `from` another address of this machine. */
    async open(from?: string): Promise<Socket> {
      const socket = connect({ port: Number(url.port), host: url.hostname, ...(from && { localAddress: from }) });
      socket.on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
      return socket;
    },
  };
}

/** A receiver under test. */
export type Receiver = Awaited<ReturnType<typeof openReceiver>>;

/** The receiver over a database of its own; both are closed when the test has finished. */
export async function startReceiver(options: HarnessOptions = {}): Promise<Receiver> {
  const receiver = await openReceiver(options);
  onTestFinished(receiver.close);
  return receiver;
}

/** The head of a delivery whose body is announced with `length` bytes; `more` is whole lines. */
export const head = (length: number, path = `/hooks/${TOKEN}`, more = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n${more}\r\n`;

/** The first line of the next answer. */
export async function firstLine(socket: Socket): Promise<string> {
  const data = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
  return data.toString().split('\r\n')[0]!;
}
