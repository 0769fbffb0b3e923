import { connect } from 'node:net';
import fc from 'fast-check';
import { Pool } from 'undici';
import { expect, it } from 'vitest';
import { parseEvent } from '../../src/domain/event.ts';
import { forFile } from '../for-file.ts';
import { openReceiver, TOKEN } from '../receiver/harness.ts';
import { routed } from '../store/contract/given.ts';
import { bodies } from './bodies.ts';
import { NAUGHTY } from './naughty.ts';

const receiver = await forFile(
  openReceiver({ environment: { RECEIVER_SOURCE_CHECK: 'enforce', RECEIVER_SOURCES: '127.0.0.1' } }),
);
const { store } = receiver;
const url = new URL(receiver.url);
const client = await forFile(Promise.resolve(new Pool(url.origin)));
const stored = async () => (await store.metrics.backlog(Date.now())).inbox.waiting;
/** The newest body. The quarantine returns bytes as they came; the inbox returns them as text. */
async function last(): Promise<Uint8Array> {
  const quarantined = (await store.inbox.next(100)).map(({ id }) => ({ id, reason: 'read' }));
  await store.routing.commit(routed({ quarantined }));
  const newest = (await store.quarantine.list()).at(-1)!;
  const { body } = (await store.quarantine.get(newest.id))!;
  await store.quarantine.discard((await store.quarantine.list()).map(({ id }) => id));
  return body!;
}

async function post(path: string, body: Buffer, headers: Record<string, string> = {}, method = 'POST') {
  // The path is sent as it is: undici does not normalize it.
  const response = await client.request({ path, method: method as 'POST', body, headers });
  return { status: response.statusCode, text: await response.body.text() };
}

/** Headers that frame the message, which the client sets itself. */
const FRAMING =
  /^(content-length|transfer-encoding|connection|keep-alive|host|upgrade|expect|te|trailer|http2-settings)$/i;
const headers = fc.dictionary(
  fc.oneof(
    fc.constantFrom(
      'content-type',
      'content-encoding',
      'accept',
      'cookie',
      'x-forwarded-for',
      'forwarded',
      'origin',
      'range',
    ),
    fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/).filter((name) => !FRAMING.test(name)),
  ),
  fc.oneof(
    fc.constantFrom('application/json', 'gzip', 'text/xml; charset=utf-16', ';;;', '', '203.0.113.9, ::1', 'bytes=0-1'),
    fc.stringMatching(/^[\x21-\x7e]{0,60}$/),
  ),
  { maxKeys: 6 },
);

it('returns 200 to every body and header at the right path, and stores each byte', async () => {
  await fc.assert(
    fc.asyncProperty(bodies, headers, fc.constantFrom('POST', 'PUT', 'PATCH'), async (body, head, method) => {
      expect(await post(`/hooks/${TOKEN}`, body, head, method)).toEqual({ status: 200, text: '{"ok":true}' });
      expect(Buffer.from(await last()).toString('latin1')).toBe(body.toString('latin1'));
      const parsed = parseEvent(body.toString());
      if (!parsed.ok) expect(parsed.reason).toMatch(/^The (body|event) /);
    }),
    { numRuns: 200 },
  );
});

const paths = fc.oneof(
  fc.webPath().map((path) => path || '/'),
  fc.webPath().map((path) => `/hooks${path}`),
  fc.constantFrom(
    '/',
    '//',
    `//hooks/${TOKEN}`,
    `/hooks//${TOKEN}`,
    `/hooks/${TOKEN}/`,
    `/hooks/${TOKEN}/x`,
    `/HOOKS/${TOKEN}`,
    `/hooks/${TOKEN.toUpperCase()}`,
    `/hooks/${TOKEN}%00`,
    '/hooks/%',
    '/hooks/%c0%ae%c0%ae',
    '/hooks/%E0%A4%A',
    '/hooks/..%2f..',
    `/hooks/${'x'.repeat(5_000)}`,
    '/hooks/*',
    '/hooks/:token',
    '/hooks/__proto__',
  ),
);

it('returns 404 at every other path, without storing or echoing anything', async () => {
  const before = await stored();
  await fc.assert(
    fc.asyncProperty(paths, fc.constantFrom('POST', 'PUT', 'PATCH', 'GET', 'DELETE'), async (path, method) => {
      const body = method === 'GET' ? Buffer.alloc(0) : Buffer.from('{}');
      const { status, text } = await post(path, body, {}, method);
      expect(status).toBe(404);
      expect(text).toMatch(/^\{"ok":false(,"error":"There is nothing at this path")?\}$/);
    }),
    { numRuns: 150 },
  );
  expect(await stored()).toBe(before);
});

function raw(bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(Number(url.port), url.hostname, () => socket.end(bytes));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(received));
  });
}

it('returns no 5xx to bytes that are not HTTP, except for incomplete bodies, and serves the next delivery', async () => {
  const line = fc.constantFrom(
    `POST /hooks/${TOKEN} HTTP/1.1\r\nHost: x\r\n`,
    `POST /hooks/${TOKEN} HTTP/1.0\r\n`,
    `POST /hooks/${TOKEN} HTTP/9.9\r\nHost: x\r\n`,
    'PRI * HTTP/2.0\r\n',
    'POST\r\n',
    '',
  );
  const rest = fc.oneof(
    fc.constantFrom(
      'Content-Length: -1\r\n\r\n',
      'Content-Length: 99999999999999999999\r\n\r\n',
      'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
      'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'Transfer-Encoding: chunked\r\n\r\nzz\r\n',
      'Expect: nonsense\r\nContent-Length: 2\r\n\r\n{}',
      `X: ${'y'.repeat(40_000)}\r\n\r\n`,
      'X\u0000Y: 1\r\n\r\n',
    ),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.constantFrom(...NAUGHTY),
  );
  await fc.assert(
    fc.asyncProperty(line, rest, async (start, more) => {
      expect(await raw(Buffer.from(start + more, 'latin1'))).not.toMatch(/^HTTP\/1\.1 5(?!03)/);
      expect((await post(`/hooks/${TOKEN}`, Buffer.from('{}'))).status).toBe(200);
    }),
    { numRuns: 150 },
  );
});
