import { readFileSync } from 'node:fs';
import { createServer as createHttp, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { createServer as createTcp } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import pino from 'pino';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import type { Reachability } from '../../src/domain/inbox.ts';
import { probeReceiver, watchReachability } from '../../src/receiver/reachability.ts';
import { listen } from '../listen.ts';

const file = (name: string) => readFileSync(join(import.meta.dirname, 'certificates', name), 'utf8');
const usual = getCACertificates('default');

beforeAll(() => {
  setDefaultCACertificates([...usual, file('ca.pem')]);
  return () => setDefaultCACertificates(usual);
});

async function listening(server: Server | ReturnType<typeof createTcp>): Promise<number> {
  const port = await listen(server);
  onTestFinished(async () => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return port;
}

const behindTls = (certificate: string) =>
  listening(
    createHttps({ cert: file(`${certificate}.pem`), key: file('server.key') }, (_request, response) => {
      response.writeHead(404).end('{"ok":false}');
    }),
  );
const page = (code: number) =>
  listening(
    createHttp((_request, response) => void response.writeHead(code, { location: '/' }).end('<h1>A page</h1>')),
  );

const http = async (port: Promise<number>) => `http://127.0.0.1:${await port}`;
const https = async (port: Promise<number>) => `https://localhost:${await port}`;
async function closedPort(): Promise<number> {
  const server = createTcp();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

it.each<[string, () => Promise<string> | string, Reachability]>([
  ['a receiver behind a valid certificate', () => https(behindTls('valid')), { status: 'reachable' }],
  ['a certificate that is expired', () => https(behindTls('expired')), { status: 'expired' }],
  ['a certificate of another name', () => https(behindTls('other-name')), { status: 'wrong-name' }],
  ['a server without TLS behind an https URL', () => https(page(200)), { status: 'no-tls' }],
  ['a host whose name has no address', () => 'https://bot.invalid', { status: 'dns' }],
  ['a refused connection', () => http(closedPort()), { status: 'refused' }],
  ['no response in time', () => http(listening(createTcp((socket) => void socket.resume()))), { status: 'timeout' }],
  ['a connection that breaks', () => http(listening(createTcp((socket) => void socket.destroy()))), { status: 'away' }],
  ['a proxy’s page with status 502', () => http(page(502)), { status: 'other', code: 502 }],
  ['a proxy’s redirect', () => http(page(301)), { status: 'other', code: 301 }],
  ['a proxy’s page with status 200', () => http(page(200)), { status: 'other', code: 200 }],
])('recognizes %s', async (_what, urlOf, found) => {
  expect(await probeReceiver(await urlOf(), found.status === 'timeout' ? 100 : undefined)).toEqual(found);
});

it('reports that a certificate is not trusted when no known authority signed it', async () => {
  setDefaultCACertificates(usual);
  onTestFinished(() => setDefaultCACertificates([...usual, file('ca.pem')]));
  expect(await probeReceiver(await https(behindTls('valid')))).toEqual({ status: 'untrusted' });
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
