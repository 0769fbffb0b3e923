import type { Socket } from 'node:net';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StoreError } from '../../src/errors.ts';
import { createOps } from '../../src/operator/ops.ts';
import { inTime, until } from '../until.ts';
import { firstLine, head, OTHER_TOKEN, type Receiver, startReceiver, TOKEN } from './harness.ts';

const HOOK = `/hooks/${TOKEN}`;
const MIB = 1024 * 1024;

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
    const response = firstLine(socket);
    socket.write(`${(MIB + 1).toString(16)}\r\n${'x'.repeat(MIB + 1)}`);
    expect(await response).toContain('413');
    expect(await receiver.stored()).toEqual([]);
  });

  it('stores a chunked body of 1 MiB completely', async () => {
    const receiver = await startReceiver();
    const socket = await receiver.open();
    const chunk = `${(MIB / 16).toString(16)}\r\n${'x'.repeat(MIB / 16)}\r\n`;
    const response = firstLine(socket);
    socket.write(`POST ${HOOK} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(16)}0\r\n\r\n`);
    expect(await response).toContain('200');
    expect(await receiver.stored()).toEqual([[0, 'x'.repeat(MIB)]]);
  });
});

it('refuses the next request at once while 64 wait, and accepts requests again afterwards', async () => {
  const receiver = await startReceiver();
  const sockets = [];
  for (let n = 0; n < 64; n++) {
    const socket = await receiver.open();
    socket.write(`${head(4)}x`);
    sockets.push(socket);
  }
  await until('64 requests are open', () => receiver.admission.openRequests() === 64);
  // A burst that has only just arrived is no overload.
  expect((await receiver.post(HOOK, 'burst')).status).toBe(200);
  receiver.age(101);
  expect((await receiver.post(HOOK, 'refused')).status).toBe(503);
  expect(await receiver.refused()).toEqual(['overload']);
  // When one ends, there is room for one more.
  const response = firstLine(sockets[0]!);
  sockets[0]!.write('yyy');
  expect(await response).toContain('200');
  expect((await receiver.post(HOOK, 'taken')).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  await until('no request is open', () => receiver.admission.openRequests() === 0);
  expect((await receiver.post(HOOK, 'after')).status).toBe(200);
  const bodies = (await receiver.stored()).map(([, body]) => body);
  expect(bodies).toEqual(['burst', 'xyyy', 'taken', 'after']);
});

describe('overload by many servers’ URLs', () => {
  /** Lets this many requests wait at each scope's URL for this many milliseconds; returns a function that posts there. */
  async function waiting(counts: number[], ms: number) {
    const tokenOf = (scope: number) => (scope === 0 ? TOKEN : `token-of-scope-${scope}-of-this-test`);
    const projects = counts.map((_, index) => ({ token: tokenOf(index + 1) }));
    const receiver = await startReceiver({ projects });
    for (const [scope, count] of counts.entries()) {
      for (let n = 0; n < count; n++) (await receiver.open()).write(`${head(4, `/hooks/${tokenOf(scope)}`)}x`);
    }
    await until(
      'each request is open',
      () => receiver.admission.openRequests() === counts.reduce((sum, count) => sum + count),
    );
    receiver.age(ms);
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

it('returns 503 after 2 s when a commit takes longer, also to what is stored later', async () => {
  const release = Promise.withResolvers<void>();
  const receiver = await startReceiver({
    inbox: (real) => ({
      append: async (rows) => {
        await release.promise;
        return real.append(rows);
      },
    }),
  });
  const response = receiver.post(HOOK, 'late');
  await until('1 request is open', () => receiver.admission.openRequests() === 1);
  receiver.advance(1_999);
  expect(await receiver.refused()).toEqual([]);
  // The sender itself gives up after 3 s.
  receiver.advance(1);
  expect([(await response).status, await receiver.refused()]).toEqual([503, ['late']]);
  release.resolve();
  await until('1 delivery is stored', async () => (await receiver.stored()).length === 1);
});

describe('a server’s own URL', () => {
  const post = async ({ post }: Receiver) => (await post(`/hooks/${OTHER_TOKEN}`, 'x')).status;

  it('is closed for a minute after the disk was full, while the operator’s takes deliveries', async () => {
    let isFull = true;
    const receiver = await startReceiver({
      inbox: (real) => ({
        append: async (rows) => {
          if (isFull) throw new StoreError('database or disk is full', 'SQLITE_FULL');
          return real.append(rows);
        },
      }),
    });
    expect((await receiver.post(HOOK, 'x')).status).toBe(503);
    isFull = false;
    expect([await post(receiver), (await receiver.post(HOOK, 'x')).status]).toEqual([503, 200]);
    expect(await receiver.refused()).toEqual(['busy', 'disk-reserve']);
    receiver.advance(60_000);
    expect(await post(receiver)).toBe(200);
  });

  it('takes deliveries again once the database shows that no longer too many wait', async () => {
    let waiting = 1;
    const usage = async () => [{ scope: 1, waiting, waitingBytes: 1, day: 0, dayBytes: 0 }];
    const receiver = await startReceiver({
      environment: { QUOTA_WAITING: '1' },
      inbox: () => ({ usage }),
    });
    expect([await post(receiver), await receiver.refused()]).toEqual([503, ['backlog']]);
    waiting = 0;
    receiver.advance(10_000);
    await until('the URL takes a delivery', async () => (await post(receiver)) === 200);
  });
});

describe('connections', () => {
  /** Limits that allow this many connections: the bot keeps 128 files for other uses. */
  const limitsFor = (connections: number) => ({ memoryBytes: null, openFiles: 128 + connections });
  const closed = (socket: Socket) =>
    inTime('the receiver closes a connection', new Promise<void>((resolve) => socket.once('close', () => resolve())));
  const delivered = ({ post }: Receiver) =>
    until('a delivery gets 200', async () => (await post(HOOK, 'x').catch(() => null))?.status === 200);

  it('closes connections that send no complete header in time, or nothing at all', async () => {
    const receiver = await startReceiver({ headers: { headersTimeout: 50, connectionsCheckingInterval: 10 } });
    const [silent, slow] = [await receiver.open(), await receiver.open()];
    const both = [silent, slow].map((socket) => closed(socket.resume()));
    slow.write(`POST ${HOOK} HTTP/1.1\r\nHost: x\r\nX-Slow: `);
    await Promise.all(both);
    // A busy machine may take longer than that for a delivery's header, too.
    await delivered(receiver);
  });

  it('closes and counts connections beyond the limit, and accepts new ones as soon as others end', async () => {
    const receiver = await startReceiver({ limits: limitsFor(2) });
    const open = [await receiver.open(), await receiver.open()];
    await closed((await receiver.open()).resume());
    expect(await receiver.refused()).toEqual(['connections']);
    for (const socket of open) socket.destroy();
    await delivered(receiver);
  });

  it('logs at most once a minute that it closes connections', async () => {
    const receiver = await startReceiver({ limits: limitsFor(1) });
    await receiver.open();
    const logged: number[] = [];
    for (const ms of [0, 59_999, 1]) {
      receiver.advance(ms);
      await closed((await receiver.open()).resume());
      logged.push(receiver.logged.filter((line) => line.includes('too many connections')).length);
    }
    expect(logged).toEqual([1, 1, 2]);
  });

  it('keeps half of the connections for addresses that may deliver', async () => {
    const sources = { RECEIVER_SOURCE_CHECK: 'enforce', RECEIVER_SOURCES: '127.0.0.2' };
    const receiver = await startReceiver({ environment: sources, limits: limitsFor(6) });
    const strangers = [await receiver.open(), await receiver.open(), await receiver.open()];
    await closed((await receiver.open()).resume());
    expect(await receiver.refused()).toEqual(['connections']);
    const source = await receiver.open('127.0.0.2');
    source.write(`${head(1)}x`);
    expect(await firstLine(source)).toContain('200');
    strangers[0]!.destroy();
    const refusedBySource = async () => (await receiver.post(HOOK, 'x').catch(() => null))?.status === 403;
    await until('another stranger may connect', refusedBySource);
  });
});

it('caps the connections of the operations server and the time for their headers', async () => {
  const scrape = async () => ({ contentType: '', text: '' });
  const ops = createOps({ scrape, readiness: async () => ({}), role: () => 'working' });
  onTestFinished(() => ops.close());
  expect(ops.server).toMatchObject({ maxConnections: 100, headersTimeout: 5_000, requestTimeout: 10_000 });
});

it('closes the operations server at once while a scrape hangs', async () => {
  const scraped = Promise.withResolvers<void>();
  const scrape = () => {
    scraped.resolve();
    return new Promise<never>(() => undefined);
  };
  const ops = createOps({ scrape, readiness: async () => ({}), role: () => 'working' });
  const url = await ops.listen({ host: '127.0.0.1', port: 0 });
  const response = expect(request(`${url}/metrics`)).rejects.toThrow('other side closed');
  await inTime('the scrape begins', scraped.promise);
  await inTime('the operations server is closed', ops.close());
  await response;
});
