import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import pino from 'pino';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createIntake, type Intake } from '../../src/receiver/intake.ts';
import { createReceiver } from '../../src/receiver/server.ts';
import { openStore } from '../../src/store/client.ts';
import type { Store } from '../../src/store/tables.ts';

const TOKEN = 'a-path-token-of-this-test';

let directory: string;
let store: Store;
let intake: Intake;
let close: () => Promise<void>;
let url: string;
let refused: string[];

async function start(environment: Record<string, string> = {}): Promise<void> {
  const config = readConfig({ DISCORD_TOKEN: 'x', RECEIVER_SOURCE_CHECK: 'off', ...environment });
  const opened = await openStore(join(directory, 'test.sqlite'));
  store = opened.store;
  refused = [];
  intake = createIntake({ store, now: Date.now, onStored: () => undefined });
  const app = createReceiver({
    config,
    intake,
    tokens: () => [
      { token: TOKEN, scope: 0 },
      { token: 'the-other-active-token', scope: 3 },
    ],
    now: Date.now,
    log: pino({ level: 'silent' }),
    onRefused: (reason, source) => refused.push(`${reason} ${source ?? ''}`.trim()),
    onReceived: () => undefined,
  });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  close = async () => {
    app.server.closeAllConnections();
    await app.close();
    await opened.close();
  };
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'receiver-'));
});
afterEach(async () => {
  await close();
  rmSync(directory, { recursive: true });
});

async function post(
  path: string,
  body: string | Buffer,
  options: { method?: string; headers?: Record<string, string> } = {},
) {
  const answer = await request(url + path, {
    method: (options.method ?? 'POST') as 'POST',
    body,
    headers: options.headers ?? {},
  });
  return { status: answer.statusCode, text: await answer.body.text() };
}

const stored = async () =>
  (await store.inbox.next(100)).map(({ scope, body }) => [scope, Buffer.from(body).toString()]);

describe('a delivery to the right path', () => {
  it.each(['POST', 'PUT', 'PATCH'])('is stored to the byte and answered 200 (%s)', async (method) => {
    await start();
    const body = '{"txHash":"0x1",  "odd":"\\u00e9"}';
    expect(await post(`/hooks/${TOKEN}`, body, { method })).toEqual({ status: 200, text: '{"ok":true}' });
    expect(await stored()).toEqual([[0, body]]);
  });

  it.each([
    ['malformed JSON', '{"a":', { 'content-type': 'application/json' }],
    ['an empty body', '', { 'content-type': 'application/json' }],
    ['no content type', '{}', {}],
    ['XML', '<a/>', { 'content-type': 'text/xml' }],
    ['a content type that is none', '{}', { 'content-type': ';;; /' }],
    ['__proto__', '{"__proto__":{"x":1}}', { 'content-type': 'application/json' }],
    ['1 MiB to the byte', 'x'.repeat(1024 * 1024), {}],
  ])('is answered 200 with %s', async (_name, body, headers) => {
    await start();
    expect(await post(`/hooks/${TOKEN}`, body, { headers })).toEqual({ status: 200, text: '{"ok":true}' });
    expect(await stored()).toEqual([[0, body]]);
  });

  it('belongs to the scope of its token', async () => {
    await start();
    await post('/hooks/the-other-active-token', 'a');
    await post(`/hooks/${TOKEN}`, 'b');
    expect(await stored()).toEqual([
      [3, 'a'],
      [0, 'b'],
    ]);
  });

  it('shares commits with others, none lost', async () => {
    await start();
    const answers = await Promise.all(Array.from({ length: 300 }, (_, n) => post(`/hooks/${TOKEN}`, String(n))));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const rows = await store.inbox.next(1000);
    expect(new Set(rows.map(({ body }) => Buffer.from(body).toString())).size).toBe(300);
    expect(intake.state().commits).toBeLessThan(300);
  });
});

describe('what is refused', () => {
  it.each([
    ['/hooks/wrong-token-of-this-test'],
    ['/hooks/'],
    ['/hooks'],
    ['/'],
    [`/hooks/${TOKEN}/`],
    [`/hooks/${TOKEN}/more`],
    [`/HOOKS/${TOKEN}`],
    [`/hooks/${TOKEN.toUpperCase()}`],
    ['/hooks/%00%ff'],
  ])('%s: 404, without an echo of the path', async (path) => {
    await start();
    const { status, text } = await post(path, 'x');
    expect(status).toBe(404);
    expect(text).not.toContain('hooks');
    expect(await stored()).toEqual([]);
  });

  it.each(['GET', 'DELETE', 'HEAD', 'OPTIONS'])('%s: 405', async (method) => {
    await start();
    const answer = await request(`${url}/hooks/${TOKEN}`, { method: method as 'GET' });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers.allow).toBe('POST, PUT, PATCH');
  });

  it('more than 1 MiB: 413', async () => {
    await start();
    expect((await post(`/hooks/${TOKEN}`, 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
    expect(await stored()).toEqual([]);
  });

  it('a wrong source: 403 and counted, before the body is read', async () => {
    await start({ RECEIVER_SOURCE_CHECK: 'enforce', RECEIVER_SOURCES: '203.0.113.7' });
    const socket = await open();
    // The body never comes; an answer proves that nobody waits for it.
    socket.write(`POST /hooks/${TOKEN} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n`);
    expect(await firstLine(socket)).toContain('403');
    expect(refused).toEqual(['source 127.0.0.1']);
  });

  it('an unknown token: 404 before the body is read', async () => {
    await start();
    const socket = await open();
    socket.write('POST /hooks/some-other-token HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n');
    expect(await firstLine(socket)).toContain('404');
  });
});

describe('the source behind a proxy', () => {
  it.each([
    ['203.0.113.7', 200],
    ['198.51.100.1, 203.0.113.7', 200],
    ['203.0.113.7, 198.51.100.1', 403],
    ['203.0.113.7, 127.0.0.1', 200],
    ['::ffff:203.0.113.7', 200],
    ['203.0.113.7, garbage', 403],
  ])('X-Forwarded-For: %s → %s', async (forwarded, status) => {
    await start({
      RECEIVER_SOURCE_CHECK: 'enforce',
      RECEIVER_SOURCES: '203.0.113.0/29',
      TRUSTED_PROXIES: '127.0.0.1',
    });
    expect((await post(`/hooks/${TOKEN}`, 'x', { headers: { 'x-forwarded-for': forwarded } })).status).toBe(status);
  });

  it('is not believed from anybody else', async () => {
    await start({ RECEIVER_SOURCE_CHECK: 'enforce', RECEIVER_SOURCES: '203.0.113.7' });
    expect((await post(`/hooks/${TOKEN}`, 'x', { headers: { 'x-forwarded-for': '203.0.113.7' } })).status).toBe(403);
  });
});

describe('trouble', () => {
  it('a locked database: 503 for what waits, 200 again once it is free', async () => {
    await start();
    const other = new Database(join(directory, 'test.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    const held = await Promise.all(Array.from({ length: 20 }, () => post(`/hooks/${TOKEN}`, 'held')));
    expect(held.every(({ status }) => status === 503)).toBe(true);
    other.exec('COMMIT');
    other.close();
    expect((await post(`/hooks/${TOKEN}`, 'free')).status).toBe(200);
    expect(await stored()).toEqual([[0, 'free']]);
  });

  it('a full quarantine and a receiver that stops: 503', async () => {
    await start();
    intake.setQuarantineFull(true);
    expect((await post(`/hooks/${TOKEN}`, 'x')).status).toBe(503);
    intake.setQuarantineFull(false);
    expect((await post(`/hooks/${TOKEN}`, 'x')).status).toBe(200);
    intake.stopAdmitting();
    expect((await post(`/hooks/${TOKEN}`, 'x')).status).toBe(503);
  });

  it('a body that never ends: 503 within the sender’s 3 s, and the others are served meanwhile', async () => {
    await start();
    const socket = await open();
    socket.write(`POST /hooks/${TOKEN} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf`);
    const answer = firstLine(socket);
    expect((await post(`/hooks/${TOKEN}`, 'whole')).status).toBe(200);
    expect(await answer).toContain('503');
    expect(await stored()).toEqual([[0, 'whole']]);
  });

  it('a sender that is gone before the answer leaves the delivery owed', async () => {
    await start();
    const other = new Database(join(directory, 'test.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    const socket = await open();
    const ticket = intake.state().open;
    socket.write(`POST /hooks/${TOKEN} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi`);
    await until(() => intake.state().open > ticket);
    socket.destroy();
    await until(() => intake.state().open === ticket);
    other.exec('COMMIT');
    other.close();
    await until(async () => (await stored()).length === 1);
    expect(intake.outcome((await store.inbox.next(1))[0]!.id)).toBeNull();
  });
});

async function open(): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

async function firstLine(socket: Socket): Promise<string> {
  const data = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
  return data.toString().split('\r\n')[0]!;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}
