import { readFileSync } from 'node:fs';
import { createServer as createHttp, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import pino from 'pino';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import type { Reachability } from '../../src/domain/inbox.ts';
import { probeReceiver, watchReachability } from '../../src/receiver/reachability.ts';

const file = (name: string) => readFileSync(join(import.meta.dirname, 'certificates', name), 'utf8');
const usual = getCACertificates('default');

beforeAll(() => {
  setDefaultCACertificates([...usual, file('ca.pem')]);
  return () => setDefaultCACertificates(usual);
});

async function listening(server: Server | ReturnType<typeof createTcp>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** A TLS server in front of a receiver, with a certificate of certificates/. */
const behindTls = (certificate: string) =>
  listening(
    createHttps({ cert: file(`${certificate}.pem`), key: file('server.key') }, (_request, response) => {
      response.writeHead(404).end('{"ok":false}');
    }),
  );
/** A server that responds with a page to everything, as proxies do. */
const page = (code: number) =>
  listening(
    createHttp((_request, response) => void response.writeHead(code, { location: '/' }).end('<h1>A page</h1>')),
  );

it('reaches a receiver behind a certificate that is valid', async () => {
  expect(await probeReceiver(`https://localhost:${await behindTls('valid')}`)).toEqual({ status: 'reachable' });
});

it.each([
  ['expired', 'expired'],
  ['other-name', 'wrong-name'],
])('reports that a certificate is %s', async (certificate, status) => {
  expect(await probeReceiver(`https://localhost:${await behindTls(certificate)}`)).toEqual({ status });
});

it('reports that a certificate is not trusted when no known authority signed it', async () => {
  setDefaultCACertificates(usual);
  onTestFinished(() => setDefaultCACertificates([...usual, file('ca.pem')]));
  expect(await probeReceiver(`https://localhost:${await behindTls('valid')}`)).toEqual({ status: 'untrusted' });
});

it('reports that a server behind an https URL does not support TLS', async () => {
  expect(await probeReceiver(`https://localhost:${await page(200)}`)).toEqual({ status: 'no-tls' });
});

it('reports that the host’s name has no address', async () => {
  expect(await probeReceiver('https://bot.invalid')).toEqual({ status: 'dns' });
});

it('reports that the connection is refused', async () => {
  const server = createTcp();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  expect(await probeReceiver(`http://127.0.0.1:${port}`)).toEqual({ status: 'refused' });
});

it('reports that nothing responds in time', async () => {
  const port = await listening(createTcp((socket) => void socket.resume()));
  expect(await probeReceiver(`http://127.0.0.1:${port}`, 100)).toEqual({ status: 'timeout' });
});

it.each([502, 301, 200])('reports that something else responds: a proxy’s page with status %d', async (code) => {
  expect(await probeReceiver(`http://127.0.0.1:${await page(code)}`)).toEqual({ status: 'other', code });
});

it('reports that the connection breaks', async () => {
  const port = await listening(createTcp((socket) => void socket.destroy()));
  expect(await probeReceiver(`http://127.0.0.1:${port}`)).toEqual({ status: 'away' });
});

it('probes after a minute and then every ten, and logs each change once', async () => {
  const clock = createManualClock();
  const logged: Record<string, unknown>[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  let found: Reachability = { status: 'expired' };
  let probes = 0;
  const probe = async () => {
    probes++;
    return found;
  };
  const reachability = watchReachability({ probe, isRepeated: true, clock, log });
  onTestFinished(() => reachability.close());
  const pass = async (ms: number) => {
    clock.advance(ms);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };
  await pass(60_000);
  const since = clock.now();
  await pass(600_000);
  expect([probes, reachability.unreachable()]).toEqual([2, { since, reason: 'expired' }]);
  found = { status: 'reachable' };
  await pass(600_000);
  expect(reachability.unreachable()).toBeNull();
  expect(logged).toEqual([
    { level: 40, reason: 'expired', msg: 'PUBLIC_URL is not reachable from here' },
    { level: 30, forMs: 1_200_000, msg: 'PUBLIC_URL is reachable again' },
  ]);
});
