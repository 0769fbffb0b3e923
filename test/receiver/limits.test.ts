import { METHODS } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createOps } from '../../src/receiver/ops.ts';
import { indexTokens } from '../../src/receiver/token-index.ts';
import type { Store } from '../../src/store/store.ts';
import { until } from '../until.ts';
import { firstLine, head, OTHER_TOKEN, startReceiver, TOKEN } from './harness.ts';

const HOOK = `/hooks/${TOKEN}`;
const MIB = 1024 * 1024;

describe('methods', () => {
  const others = METHODS.filter((method) => !['POST', 'PUT', 'PATCH', 'CONNECT'].includes(method));

  it('returns 405 to other methods at the right path, and 404 at any other', async () => {
    const receiver = await startReceiver();
    for (const method of others) {
      const lines: string[] = [];
      for (const path of [HOOK, '/hooks/some-other-token', '/']) {
        const socket = await receiver.open();
        socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
        lines.push(await firstLine(socket));
      }
      const notFound = 'HTTP/1.1 404 Not Found';
      expect([method, ...lines]).toEqual([method, 'HTTP/1.1 405 Method Not Allowed', notFound, notFound]);
    }
    expect(await receiver.stored()).toEqual([]);
  });
});

describe('size', () => {
  it('returns 413 to an announced length of more than 1 MiB before any of it was sent', async () => {
    const receiver = await startReceiver();
    const socket = await receiver.open();
    socket.write(head(MIB + 1));
    expect(await firstLine(socket)).toContain('413');
    expect(await receiver.refused()).toEqual(['too-large']);
  });

  it('returns 413 once an unannounced body passes 1 MiB, and stores nothing', async () => {
    const receiver = await startReceiver();
    const socket = await receiver.open();
    socket.write(`POST ${HOOK} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const answer = firstLine(socket);
    socket.write(`${(MIB + 1).toString(16)}\r\n${'x'.repeat(MIB + 1)}`);
    expect(await answer).toContain('413');
    expect(await receiver.stored()).toEqual([]);
  });

  it('stores a chunked body of 1 MiB completely', async () => {
    const receiver = await startReceiver();
    const socket = await receiver.open();
    const chunk = `${(MIB / 16).toString(16)}\r\n${'x'.repeat(MIB / 16)}\r\n`;
    const answer = firstLine(socket);
    socket.write(`POST ${HOOK} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(16)}0\r\n\r\n`);
    expect(await answer).toContain('200');
    expect(await receiver.stored()).toEqual([[0, 'x'.repeat(MIB)]]);
  });
});

describe('overload', () => {
  it('refuses the next request at once while 64 wait, and accepts requests again afterwards', async () => {
    const receiver = await startReceiver();
    const sockets = [];
    for (let n = 0; n < 64; n++) {
      const socket = await receiver.open();
      socket.write(`${head(4)}x`);
      sockets.push(socket);
    }
    await until('64 requests are open', () => receiver.intake.state().open === 64);
    // A burst that has just come is not an overload.
    expect((await receiver.post(HOOK, 'burst')).status).toBe(200);
    receiver.jump(101);
    expect((await receiver.post(HOOK, 'refused')).status).toBe(503);
    expect(await receiver.refused()).toEqual(['overload']);
    // One that ends makes room for one more.
    const answer = firstLine(sockets[0]!);
    sockets[0]!.write('yyy');
    expect(await answer).toContain('200');
    expect((await receiver.post(HOOK, 'taken')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await until('no request is open', () => receiver.intake.state().open === 0);
    expect((await receiver.post(HOOK, 'after')).status).toBe(200);
    const bodies = (await receiver.stored()).map(([, body]) => body);
    expect(bodies).toEqual(['burst', 'xyyy', 'taken', 'after']);
  });
});

describe('overload of one server’s URL', () => {
  it('keeps other servers’ URLs open while one is overloaded', async () => {
    const receiver = await startReceiver();
    const other = `/hooks/${OTHER_TOKEN}`;
    for (let n = 0; n < 64; n++) (await receiver.open()).write(`${head(4, other)}x`);
    await until('64 requests are open', () => receiver.intake.state().open === 64);
    receiver.jump(101);
    expect((await receiver.post(other, 'refused')).status).toBe(503);
    expect((await receiver.post(HOOK, 'taken')).status).toBe(200);
    expect(await receiver.stored()).toEqual([[0, 'taken']]);
  });
});

describe('overload by many servers’ URLs', () => {
  /** A receiver with endless bodies: this many at each scope's URL, for this many milliseconds. */
  async function waiting(counts: number[], ms: number) {
    const tokenOf = (scope: number) => (scope === 0 ? TOKEN : `token-of-scope-${scope}-of-this-test`);
    const projects = counts.map((_, index) => ({ token: tokenOf(index + 1) }));
    const receiver = await startReceiver({ projects });
    for (const [scope, count] of counts.entries()) {
      for (let n = 0; n < count; n++) (await receiver.open()).write(`${head(4, `/hooks/${tokenOf(scope)}`)}x`);
    }
    await until(
      'each request is open',
      () => receiver.intake.state().open === counts.reduce((sum, count) => sum + count),
    );
    receiver.jump(ms);
    return async (scope: number) => (await receiver.post(`/hooks/${tokenOf(scope)}`, 'x')).status;
  }

  it('closes a URL that has 16 of the 64 requests that wait for a tenth of a second', async () => {
    const post = await waiting([16, 15, 15, 18], 100);
    expect([await post(0), await post(1), await post(4)]).toEqual([503, 200, 200]);
    const early = await waiting([64], 99);
    expect(await early(0)).toBe(200);
  });

  it('closes every URL while 128 requests wait', async () => {
    const few = await waiting(Array(8).fill(15).concat(7), 100);
    expect([await few(0), await few(9)]).toEqual([200, 200]);
    const many = await waiting(Array(8).fill(15).concat(8), 100);
    expect([await many(0), await many(9)]).toEqual([503, 503]);
  });
});

describe('a commit that takes longer than 2 s', () => {
  it('returns 503 in time when a commit takes too long, and counts the retry as the stored delivery’s repeat', async () => {
    const release = Promise.withResolvers<void>();
    const slow = (store: Store): Store => ({
      ...store,
      inbox: {
        ...store.inbox,
        append: async (rows) => {
          await release.promise;
          return store.inbox.append(rows);
        },
      },
    });
    const receiver = await startReceiver({ between: slow });
    const answer = receiver.post(HOOK, 'late');
    await until('1 request is open', () => receiver.intake.state().open === 1);
    receiver.advance(1_999);
    expect(await receiver.refused()).toEqual([]);
    // The sender itself gives up after three.
    receiver.advance(1);
    expect([(await answer).status, await receiver.refused()]).toEqual([503, ['late']]);
    release.resolve();
    await until('1 delivery is stored', async () => (await receiver.stored()).length === 1);
    expect(await receiver.route()).toEqual([null]);
  });
});

describe('connections', () => {
  /** What the system must allow for this many connections: the bot keeps 128 files for others. */
  const limitsFor = (connections: number) => ({ memoryBytes: null, openFiles: 128 + connections });
  const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));

  it('closes connections that send no complete header in time, at the first byte or before it', async () => {
    const receiver = await startReceiver({ headers: { headersTimeout: 50, connectionsCheckingInterval: 10 } });
    const [silent, slow] = [await receiver.open(), await receiver.open()];
    const both = [silent, slow].map((socket) => closed(socket.resume()));
    slow.write(`POST ${HOOK} HTTP/1.1\r\nHost: x\r\nX-Slow: `);
    await Promise.all(both);
    expect((await receiver.post(HOOK, 'x')).status).toBe(200);
  });

  it('closes and counts connections beyond the limit, and accepts new ones as soon as others end', async () => {
    const receiver = await startReceiver({ limits: limitsFor(2) });
    const open = [await receiver.open(), await receiver.open()];
    await closed((await receiver.open()).resume());
    expect(await receiver.refused()).toEqual(['connections']);
    for (const socket of open) socket.destroy();
    await until('a delivery gets 200', async () => (await receiver.post(HOOK, 'x').catch(() => null))?.status === 200);
  });

  it('closes the oldest connection of an address that may not deliver, so that others stay', async () => {
    const sources = { RECEIVER_SOURCE_CHECK: 'enforce', RECEIVER_SOURCES: '127.0.0.2' };
    const receiver = await startReceiver({ environment: sources, limits: limitsFor(6) });
    const source = await receiver.open('127.0.0.2');
    const oldest = await receiver.open();
    const gone = closed(oldest.resume());
    const strangers = [await receiver.open(), await receiver.open(), await receiver.open()];
    await gone;
    source.write(`${head(1)}x`);
    expect(await firstLine(source)).toContain('200');
    expect(strangers.map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
    expect(await receiver.refused()).toEqual([]);
  });
});

it('caps the connections of the operations server and the time for their headers', async () => {
  const scrape = async () => ({ contentType: '', text: '' });
  const ops = createOps({ scrape, readiness: async () => ({}), role: () => 'working' });
  onTestFinished(() => ops.close());
  expect(ops.server).toMatchObject({ maxConnections: 100, headersTimeout: 5_000, requestTimeout: 10_000 });
});

describe('path tokens', () => {
  it('finds a path token without comparing characters, however many there are, and only in full', async () => {
    const read = vi.fn();
    const tokens = Array.from({ length: 10_000 }, (_, scope) => ({
      scope,
      get token() {
        read();
        return `the-token-of-scope-${scope}`;
      },
    }));
    const scopeOf = indexTokens(tokens);
    expect(read).toHaveBeenCalledTimes(tokens.length);
    const given = [
      'the-token-of-scope-0',
      'the-token-of-scope-9999',
      'the-token-of-scope-',
      'the-token-of-scope-99999',
      '',
    ];
    expect(given.map(scopeOf)).toEqual([0, 9_999, null, null, null]);
    expect(read).toHaveBeenCalledTimes(tokens.length);
  });

  it('logs no path token, whatever goes wrong', async () => {
    const receiver = await startReceiver({
      environment: { RECEIVER_SOURCE_CHECK: 'report', RECEIVER_SOURCES: '203.0.113.7' },
    });
    await receiver.post(`${HOOK}?apiKey=a-key-in-a-query`, 'x');
    await receiver.post(`${HOOK}/more`, 'x');
    await receiver.post(HOOK, 'x'.repeat(MIB + 1)).catch(() => undefined);
    for (const method of ['DELETE', 'GET']) await receiver.post(HOOK, '', { method }).catch(() => undefined);
    for (const bytes of [`${head(100)}half`, `${head(3)}four`, `POST ${HOOK} HTTP/9.9\r\n\r\n`]) {
      const socket = await receiver.open();
      socket.resume();
      socket.end(bytes);
      await new Promise((resolve) => socket.once('close', resolve));
    }
    receiver.intake.stopAdmitting();
    await receiver.post(HOOK, 'x');
    expect((await receiver.refused()).length).toBeGreaterThan(3);
    expect(receiver.logged.join('')).not.toMatch(new RegExp(`${TOKEN}|a-key-in-a-query`));
  });
});
