import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { StoreError } from '../../src/errors.ts';
import { probeReceiver } from '../../src/receiver/probe.ts';
import { lock } from '../store/sqlite/beside.ts';
import { until } from '../until.ts';
import { firstLine, head, OTHER_SCOPE, OTHER_TOKEN, startReceiver, TOKEN } from './harness.ts';

const ONE_SOURCE = { RECEIVER_SOURCE_CHECK: 'enforce', RECEIVER_SOURCES: '203.0.113.7' };

describe('a delivery to the right path', () => {
  it.each(['POST', 'PUT', 'PATCH'])('stores every byte of a delivery and returns 200 (%s)', async (method) => {
    const receiver = await startReceiver();
    const body = '{"txHash":"0x1",  "odd":"\\u00e9"}';
    expect(await receiver.post(`/hooks/${TOKEN}`, body, { method })).toEqual({ status: 200, text: '{"ok":true}' });
    expect(await receiver.stored()).toEqual([[0, body]]);
  });

  it.each([
    ['malformed JSON', '{"a":', { 'content-type': 'application/json' }],
    ['an empty body', '', { 'content-type': 'application/json' }],
    ['no content type', '{}', {}],
    ['XML', '<a/>', { 'content-type': 'text/xml' }],
    ['an invalid content type', '{}', { 'content-type': ';;; /' }],
    ['__proto__', '{"__proto__":{"x":1}}', { 'content-type': 'application/json' }],
    ['1 MiB to the byte', 'x'.repeat(1024 * 1024), {}],
  ])('returns 200 to a delivery with %s', async (_name, body, headers) => {
    const receiver = await startReceiver();
    expect(await receiver.post(`/hooks/${TOKEN}`, body, { headers })).toEqual({ status: 200, text: '{"ok":true}' });
    expect(await receiver.stored()).toEqual([[0, body]]);
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
    const receiver = await startReceiver();
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, n) => receiver.post(`/hooks/${TOKEN}`, String(n))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const rows = await receiver.store.inbox.next(1000);
    expect(new Set(rows.map(({ body }) => Buffer.from(body).toString())).size).toBe(300);
    expect(receiver.intake.state().commits).toBeLessThan(300);
  });
});

describe('refused requests', () => {
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
  ])('returns 404 to %s, without an echo of the path', async (path) => {
    const receiver = await startReceiver();
    const { status, text } = await receiver.post(path, 'x');
    expect(status).toBe(404);
    expect(text).not.toContain('hooks');
    expect(await receiver.stored()).toEqual([]);
  });

  it.each(['GET', 'DELETE', 'HEAD', 'OPTIONS'])('returns 405 to %s', async (method) => {
    const receiver = await startReceiver();
    const answer = await request(`${receiver.url}/hooks/${TOKEN}`, { method: method as 'GET' });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers.allow).toBe('POST, PUT, PATCH');
  });

  it('returns 413 to more than 1 MiB', async () => {
    const receiver = await startReceiver();
    expect((await receiver.post(`/hooks/${TOKEN}`, 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
    expect(await receiver.stored()).toEqual([]);
  });

  it('returns 403 to a wrong source before the body is read, and counts it', async () => {
    const receiver = await startReceiver({ environment: ONE_SOURCE });
    const socket = await receiver.open();
    // The body never comes; an answer proves that nobody waits for it.
    socket.write(head(100));
    expect(await firstLine(socket)).toContain('403');
    expect(await receiver.refused()).toEqual(['source 127.0.0.1 unlisted']);
  });

  it.each(['/hooks/some-other-token', '/hooks/', '/hooks', '/', `/hooks/${TOKEN}/`])(
    'returns 404 to an unknown or missing token (%s) before the body is read',
    async (path) => {
      const receiver = await startReceiver();
      const socket = await receiver.open();
      socket.write(head(100, path));
      expect(await firstLine(socket)).toContain('404');
    },
  );
});

it('distinguishes a receiver from a proxy that forwards a wrong path in the probe of the public address', async () => {
  const receiver = await startReceiver();
  expect(await probeReceiver(receiver.url)).toEqual({ status: 'reachable' });
  expect(await probeReceiver(`${receiver.url}/bell`)).toEqual({ status: 'other', code: 404 });
});

describe('Expect: 100-continue', () => {
  const ASKING = 'Expect: 100-continue\r\n';

  it('returns 100 to a sender that asks before it sends the body, and then 200', async () => {
    const receiver = await startReceiver();
    const socket = await receiver.open();
    socket.write(head(2, undefined, ASKING));
    expect(await firstLine(socket)).toBe('HTTP/1.1 100 Continue');
    socket.write('{}');
    expect(await firstLine(socket)).toBe('HTTP/1.1 200 OK');
    expect(await receiver.stored()).toEqual([[0, '{}']]);
  });

  it('refuses a sender that asks first without requesting the body', async () => {
    const receiver = await startReceiver({ environment: ONE_SOURCE });
    for (const [path, status] of [
      ['/hooks/some-other-token', '404'],
      [`/hooks/${TOKEN}`, '403'],
    ]) {
      const socket = await receiver.open();
      socket.write(head(2, path, ASKING));
      expect(await firstLine(socket)).toContain(status);
    }
  });

  it('serves a sender with an unknown expectation', async () => {
    const receiver = await startReceiver();
    const socket = await receiver.open();
    socket.write(`${head(2, undefined, 'Expect: the-unexpected\r\n')}{}`);
    expect(await firstLine(socket)).toBe('HTTP/1.1 100 Continue');
    expect(await firstLine(socket)).toBe('HTTP/1.1 200 OK');
    expect(await receiver.stored()).toEqual([[0, '{}']]);
  });

  it('sends an HTTP/1.0 sender only the response, without a 100 that it would misread', async () => {
    const receiver = await startReceiver();
    const socket = await receiver.open();
    socket.write(`${head(2, undefined, ASKING).replace('HTTP/1.1', 'HTTP/1.0')}{}`);
    expect(await firstLine(socket)).toBe('HTTP/1.1 200 OK');
    expect(await receiver.stored()).toEqual([[0, '{}']]);
  });
});

describe('a wrong source', () => {
  it.each([
    ['report', 'stored and reported', ['source 127.0.0.1 unlisted']],
    ['off', 'stored without a report', []],
  ])('applies RECEIVER_SOURCE_CHECK=%s to a wrong source: %s', async (check, _words, reported) => {
    const receiver = await startReceiver({ environment: { ...ONE_SOURCE, RECEIVER_SOURCE_CHECK: check } });
    expect(await receiver.post(`/hooks/${TOKEN}`, 'x')).toEqual({ status: 200, text: '{"ok":true}' });
    expect([await receiver.stored(), await receiver.refused()]).toEqual([[[0, 'x']], reported]);
  });
});

describe('the source behind a proxy', () => {
  it('uses the last of several X-Forwarded-For headers', async () => {
    const receiver = await startReceiver({ environment: { ...ONE_SOURCE, TRUSTED_PROXIES: '127.0.0.1' } });
    const lines = (...sources: string[]) => sources.map((source) => `X-Forwarded-For: ${source}\r\n`).join('');
    for (const [sources, status] of [
      [['198.51.100.1', '203.0.113.7'], '200'],
      [['203.0.113.7', '198.51.100.1'], '403'],
    ] as const) {
      const socket = await receiver.open();
      socket.write(`${head(1, undefined, lines(...sources))}x`);
      expect(await firstLine(socket)).toContain(status);
    }
  });

  it.each([
    ['203.0.113.7', 200],
    ['198.51.100.1, 203.0.113.7', 200],
    ['203.0.113.7, 198.51.100.1', 403],
    ['203.0.113.7, 127.0.0.1', 200],
    ['::ffff:203.0.113.7', 200],
    ['203.0.113.7, garbage', 403],
  ])('reads X-Forwarded-For: %s → %s', async (forwarded, status) => {
    const receiver = await startReceiver({
      environment: {
        RECEIVER_SOURCE_CHECK: 'enforce',
        RECEIVER_SOURCES: '203.0.113.0/29',
        TRUSTED_PROXIES: '127.0.0.1',
      },
    });
    expect((await receiver.post(`/hooks/${TOKEN}`, 'x', { headers: { 'x-forwarded-for': forwarded } })).status).toBe(
      status,
    );
  });

  it.each([
    ['an address that is not listed', '198.51.100.2, 192.0.2.9, 198.51.100.1', '192.0.2.9 unlisted'],
    ['no sender behind the trusted proxies', '198.51.100.1, 198.51.100.2', '198.51.100.1 no-sender'],
    ['no sender in an empty header', '', '127.0.0.1 no-sender'],
    ['no sender without the header', undefined, '127.0.0.1 no-sender'],
    ['what is no address', '203.0.113.7:41324', 'unreadable'],
  ])('refuses a source behind a proxy and reports it as %s', async (_case, forwarded, reported) => {
    const receiver = await startReceiver({
      environment: { ...ONE_SOURCE, TRUSTED_PROXIES: '127.0.0.1,198.51.100.0/24' },
    });
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    expect((await receiver.post(`/hooks/${TOKEN}`, 'x', { headers })).status).toBe(403);
    expect(await receiver.refused()).toEqual([`source ${reported}`]);
  });

  it('ignores X-Forwarded-For from anybody except a trusted proxy', async () => {
    const receiver = await startReceiver({ environment: ONE_SOURCE });
    expect(
      (await receiver.post(`/hooks/${TOKEN}`, 'x', { headers: { 'x-forwarded-for': '203.0.113.7' } })).status,
    ).toBe(403);
  });
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
        between: (store) => ({
          ...store,
          inbox: {
            ...store.inbox,
            append: (rows) =>
              failing ? Promise.reject(new StoreError('disk I/O error', code)) : store.inbox.append(rows),
          },
        }),
      });
      const answers = await Promise.all([1, 2, 3].map(() => receiver.post(`/hooks/${TOKEN}`, 'x')));
      expect([answers.map(({ status }) => status), await receiver.refused()]).toEqual([
        [503, 503, 503],
        ['busy', 'busy', 'busy'],
      ]);
      const FAULT = 'deliveries cannot be stored: disk I/O error';
      expect(await receiver.databaseFault()).toBe(FAULT);
      receiver.jump(299_999);
      expect(await receiver.databaseFault()).toBe(FAULT);
      // A failure that long ago no longer matters.
      receiver.jump(1);
      expect(await receiver.databaseFault()).toBeNull();
      expect((await receiver.post(`/hooks/${TOKEN}`, 'x')).status).toBe(503);
      expect(await receiver.databaseFault()).toBe(FAULT);
      failing = false;
      expect((await receiver.post(`/hooks/${TOKEN}`, 'kept')).status).toBe(200);
      expect(await receiver.databaseFault()).toBeNull();
      expect(await receiver.stored()).toEqual([[0, 'kept']]);
    },
  );

  it('refuses deliveries with 503 and Retry-After once it stops', async () => {
    const receiver = await startReceiver();
    receiver.intake.stopAdmitting();
    const answer = await request(`${receiver.url}/hooks/${TOKEN}`, { method: 'POST', body: 'x' });
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '15']);
  });

  it('refuses a delivery that is older than 2 s when its commit begins, and stores nothing', async () => {
    const receiver = await startReceiver();
    const socket = await receiver.open();
    socket.write(`${head(4)}ha`);
    await expect.poll(() => receiver.intake.state().open, { message: 'the request did not arrive' }).toBe(1);
    receiver.jump(2_001);
    const answer = firstLine(socket);
    socket.write('lf');
    expect(await answer).toContain('503');
    expect([await receiver.refused(), await receiver.stored()]).toEqual([['late'], []]);
  });

  it('returns 503 to an endless body within the sender’s 3 s, and serves the others meanwhile', async () => {
    const receiver = await startReceiver();
    const socket = await receiver.open();
    socket.write(`${head(100)}half`);
    await until('1 request is open', () => receiver.intake.state().open === 1);
    const answer = firstLine(socket);
    expect((await receiver.post(`/hooks/${TOKEN}`, 'whole')).status).toBe(200);
    receiver.advance(2_000);
    expect(await answer).toContain('503');
    expect(await receiver.stored()).toEqual([[0, 'whole']]);
  });

  it('expects a repeat of a delivery whose sender left before the response', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const receiver = await startReceiver({
      between: (store) => ({
        ...store,
        inbox: { ...store.inbox, append: (rows) => released.then(() => store.inbox.append(rows)) },
      }),
    });
    const socket = await receiver.open();
    const ticket = receiver.intake.state().open;
    socket.write(`${head(2)}hi`);
    await until('the delivery is being stored', () => receiver.intake.state().open > ticket);
    socket.destroy();
    await until('the receiver gives up the sender’s request', () => receiver.intake.state().open === ticket);
    release();
    await until('1 delivery is stored', async () => (await receiver.stored()).length === 1);
    // So does one that an earlier process stored.
    await receiver.store.inbox.append([{ scope: 0, receivedAt: 0, body: Buffer.from('of an earlier process') }]);
    expect(await receiver.route()).toEqual([null, null]);
  });
});

describe('a clock that is set', () => {
  it.each([-3_600_000, 3_600_000])(
    'stores a delivery or gets its repeat when the clock is set %i ms off meanwhile, and stores the next one',
    async (jump) => {
      const receiver = await startReceiver();
      const socket = await receiver.open();
      socket.write(`${head(4)}ha`);
      await until('1 request is open', () => receiver.intake.state().open === 1);
      receiver.jump(jump);
      const answer = firstLine(socket);
      socket.write('lf');
      expect(await answer).toMatch(/ (200|503) /);
      for (let n = 0; n < 3; n++) expect((await receiver.post(`/hooks/${TOKEN}`, 'whole')).status).toBe(200);
      receiver.jump(-jump);
      expect((await receiver.post(`/hooks/${TOKEN}`, 'whole')).status).toBe(200);
      const whole = (await receiver.stored()).filter(([, body]) => body === 'whole');
      expect(whole).toHaveLength(4);
    },
  );
});
