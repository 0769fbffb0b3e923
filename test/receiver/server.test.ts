import { once } from 'node:events';
import { METHODS } from 'node:http';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { StoreError } from '../../src/errors.ts';
import { probeReceiver } from '../../src/receiver/reachability.ts';
import { forFile } from '../for-file.ts';
import { lock } from '../store/sqlite/database-file.ts';
import { firstLine, head, OTHER_SCOPE, OTHER_TOKEN, openReceiver, startReceiver, TOKEN } from './harness.ts';

const shared = await forFile(openReceiver());

describe('a delivery to the right path', () => {
  const json = { 'content-type': 'application/json' };
  const odd = '{"txHash":"0x1",  "odd":"\\u00e9"}';
  it.each([
    ['POST', 'an event', odd, json],
    ['PUT', 'an event', odd, json],
    ['PATCH', 'an event', odd, json],
    ['POST', 'malformed JSON', '{"a":', json],
    ['POST', 'an empty body', '', json],
    ['POST', 'no content type', '{}', {}],
    ['POST', 'XML', '<a/>', { 'content-type': 'text/xml' }],
    ['POST', 'an invalid content type', '{}', { 'content-type': ';;; /' }],
    ['POST', '__proto__', '{"__proto__":{"x":1}}', json],
    ['POST', '1 MiB to the byte', 'x'.repeat(1024 * 1024), {}],
  ])('stores every byte of a %s with %s, and returns 200', async (method, _name, body, headers) => {
    const response = await shared.post(`/hooks/${TOKEN}`, body, { method, headers });
    expect(response).toEqual({ status: 200, text: '{"ok":true}' });
    expect((await shared.stored()).at(-1)).toEqual([0, body]);
  });

  it('answers a sender that closes its side after the body', async () => {
    const receiver = await startReceiver();
    const socket = await receiver.open();
    socket.end(`${head(2)}{}`);
    expect(await firstLine(socket)).toBe('HTTP/1.1 200 OK');
    expect(await receiver.stored()).toEqual([[0, '{}']]);
  });

  it('stores a delivery in the scope of its token', async () => {
    const receiver = await startReceiver();
    await receiver.post(`/hooks/${OTHER_TOKEN}`, 'a');
    await receiver.post(`/hooks/${TOKEN}`, 'b');
    expect(new Set(await receiver.stored())).toEqual(
      new Set([
        [OTHER_SCOPE, 'a'],
        [0, 'b'],
      ]),
    );
  });

  it('shares commits between deliveries and loses none', async () => {
    let commits = 0;
    const receiver = await startReceiver({
      inbox: (real) => ({
        append(rows) {
          commits++;
          return real.append(rows);
        },
      }),
    });
    const responses = await Promise.all(
      Array.from({ length: 300 }, (_, n) => receiver.post(`/hooks/${TOKEN}`, String(n))),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    const rows = await receiver.store.inbox.next(1000);
    expect(new Set(rows.map(({ body }) => Buffer.from(body).toString())).size).toBe(300);
    expect(commits).toBeLessThan(300);
  });
});

describe('refused requests', () => {
  it.each([
    '/hooks/wrong-token-of-this-test',
    '/hooks/',
    '/hooks',
    '/',
    `/hooks/${TOKEN}/`,
    `/hooks/${TOKEN}/more`,
    `/HOOKS/${TOKEN}`,
    `/hooks/${TOKEN.toUpperCase()}`,
    '/hooks/%00%ff',
  ])('returns 404 to %s before the body is read, without echoing the path', async (path) => {
    const stored = await shared.stored();
    const socket = await shared.open();
    socket.write(head(100, path));
    const [response] = (await once(socket, 'data')) as [Buffer];
    expect(response.toString()).toMatch(/^HTTP\/1.1 404 /);
    expect(response.toString()).not.toContain('hooks');
    expect(await shared.stored()).toEqual(stored);
  });

  it('returns 405 to every method but POST, PUT and PATCH at the right path, and 404 at any other', async () => {
    const receiver = await startReceiver();
    // Node itself handles CONNECT.
    for (const method of METHODS.filter((one) => !['POST', 'PUT', 'PATCH', 'CONNECT'].includes(one))) {
      const lines: string[] = [];
      for (const path of [`/hooks/${TOKEN}`, '/hooks/some-other-token', '/']) {
        const socket = await receiver.open();
        socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
        lines.push(await firstLine(socket));
      }
      const notFound = 'HTTP/1.1 404 Not Found';
      expect([method, ...lines]).toEqual([method, 'HTTP/1.1 405 Method Not Allowed', notFound, notFound]);
    }
    expect(await receiver.stored()).toEqual([]);
  });

  it('names the accepted methods in a 405', async () => {
    const receiver = await startReceiver();
    const response = await request(`${receiver.url}/hooks/${TOKEN}`, { method: 'GET' });
    expect([response.statusCode, response.headers.allow]).toEqual([405, 'POST, PUT, PATCH']);
  });
});

it('lets the probe of the public address distinguish the receiver from a proxy that forwards a wrong path', async () => {
  const receiver = await startReceiver();
  expect(await probeReceiver(receiver.url)).toEqual({ status: 'reachable' });
  expect(await probeReceiver(`${receiver.url}/bell`)).toEqual({ status: 'other', code: 404 });
});

it('serves a sender that asks before it sends the body', async () => {
  const receiver = await startReceiver();
  const socket = await receiver.open();
  socket.write(head(2, undefined, 'Expect: 100-continue\r\n'));
  expect(await firstLine(socket)).toBe('HTTP/1.1 100 Continue');
  socket.write('{}');
  expect(await firstLine(socket)).toBe('HTTP/1.1 200 OK');
  expect(await receiver.stored()).toEqual([[0, '{}']]);
});

it('ignores what else a sender expects', async () => {
  const receiver = await startReceiver();
  const socket = await receiver.open();
  socket.write(`${head(2, undefined, 'Expect: nonsense\r\n')}{}`);
  expect(await firstLine(socket)).toBe('HTTP/1.1 200 OK');
});

describe('a failing database', () => {
  it('returns 503 to waiting deliveries while the database is locked, and 200 again once it is free', async () => {
    const receiver = await startReceiver();
    const release = lock(receiver.file);
    const held = await Promise.all(Array.from({ length: 20 }, () => receiver.post(`/hooks/${TOKEN}`, 'held')));
    expect(new Set(held.map(({ status }) => status))).toEqual(new Set([503]));
    release();
    expect((await receiver.post(`/hooks/${TOKEN}`, 'free')).status).toBe(200);
    expect(await receiver.stored()).toEqual([[0, 'free']]);
  });

  it.each(['SQLITE_IOERR_FSYNC', 'SQLITE_FULL', 'SQLITE_CORRUPT'])(
    'returns 503 to all deliveries of a commit that fails (%s), and 200 again once it works',
    async (code) => {
      let failing = true;
      const receiver = await startReceiver({
        inbox: (real) => ({
          append: (rows) => (failing ? Promise.reject(new StoreError('disk I/O error', code)) : real.append(rows)),
        }),
      });
      const responses = await Promise.all([1, 2, 3].map(() => receiver.post(`/hooks/${TOKEN}`, 'x')));
      expect([responses.map(({ status }) => status), await receiver.refused()]).toEqual([
        [503, 503, 503],
        ['busy', 'busy', 'busy'],
      ]);
      const FAULT = 'deliveries cannot be stored: disk I/O error';
      expect(await receiver.databaseFault()).toBe(FAULT);
      receiver.advance(299_999);
      expect(await receiver.databaseFault()).toBe(FAULT);
      // After five minutes a failure no longer matters.
      receiver.advance(1);
      expect(await receiver.databaseFault()).toBeNull();
      expect((await receiver.post(`/hooks/${TOKEN}`, 'x')).status).toBe(503);
      expect(await receiver.databaseFault()).toBe(FAULT);
      failing = false;
      expect((await receiver.post(`/hooks/${TOKEN}`, 'kept')).status).toBe(200);
      expect(await receiver.databaseFault()).toBeNull();
      expect(await receiver.stored()).toEqual([[0, 'kept']]);
    },
  );
});

describe('a request that takes too long', () => {
  it('refuses a delivery that is older than 2 s when its commit begins, and stores nothing', async () => {
    const receiver = await startReceiver();
    const socket = await receiver.sendHalf();
    receiver.age(2_001);
    const response = firstLine(socket);
    socket.write('lf');
    expect(await response).toContain('503');
    expect([await receiver.refused(), await receiver.stored()]).toEqual([['late'], []]);
  });

  it('returns 503 to an endless body within the sender’s 3 s, and serves the others meanwhile', async () => {
    const receiver = await startReceiver();
    const socket = await receiver.sendHalf();
    const response = firstLine(socket);
    expect((await receiver.post(`/hooks/${TOKEN}`, 'whole')).status).toBe(200);
    receiver.advance(2_000);
    expect(await response).toContain('503');
    expect(await receiver.stored()).toEqual([[0, 'whole']]);
  });
});

it('refuses deliveries with 503 and Retry-After once it stops', async () => {
  const receiver = await startReceiver();
  receiver.stopAdmitting();
  const response = await request(`${receiver.url}/hooks/${TOKEN}`, { method: 'POST', body: 'x' });
  expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '15']);
});

it.each([-3_600_000, 3_600_000])(
  'stores a delivery, or refuses it so that it is repeated, when the clock jumps by %i ms meanwhile, and stores later ones',
  async (jump) => {
    const receiver = await startReceiver();
    const socket = await receiver.sendHalf();
    receiver.jump(jump);
    const response = firstLine(socket);
    socket.write('lf');
    expect(await response).toMatch(/ (200|503) /);
    for (let n = 0; n < 3; n++) expect((await receiver.post(`/hooks/${TOKEN}`, 'whole')).status).toBe(200);
    receiver.jump(-jump);
    expect((await receiver.post(`/hooks/${TOKEN}`, 'whole')).status).toBe(200);
    const whole = (await receiver.stored()).filter(([, body]) => body === 'whole');
    expect(whole).toHaveLength(4);
  },
);
