import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, createServer as createTcp } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePorts } from '../../sandbox/ports.ts';
import { temporaryFolder } from '../folder.ts';
import { listen } from '../listen.ts';
import { openReceiver, TOKEN } from '../receiver/harness.ts';
import { until } from '../until.ts';

/** The configuration files of the manual, in front of a real receiver. */

const DOCS = resolve(import.meta.dirname, '../../docs/proxies');
const CERTIFICATES = resolve(import.meta.dirname, '../receiver/certificates');
/** Every address of 127.0.0.0/8 is this machine's, so tests choose the sender's. The proxies connect from 127.0.0.1. */
const SENDER = '127.0.1.50';
const STRANGER = '127.0.2.60';
const PATH = `/hooks/${TOKEN}`;

const isInstalled = (command: string) => spawnSync(command, ['-v'], { stdio: 'ignore' }).error === undefined;
const missing = ['nginx', 'caddy'].filter((command) => !isInstalled(command));
if (missing.length > 0 && !process.env.CI)
  process.stderr.write(`NOT TESTED: the manual's proxies, because there is no ${missing.join(', ')}\n`);

type Kind = 'nginx' | 'caddy';
interface Place {
  port: number;
  /** With TLS. */
  isOuter: boolean;
}

/** Starts a proxy with a file of the manual; only its ports, addresses and certificates are changed. */
async function startProxy(kind: Kind, name: string, target: number, logs: string): Promise<Place> {
  const port = (await freePorts(1))[0]!;
  const folder = temporaryFolder();
  const config = adapt(readFileSync(join(DOCS, name), 'utf8'), port, target);
  const process = kind === 'nginx' ? nginx(config, folder, logs) : caddy(config, folder);
  const output: Buffer[] = [];
  for (const stream of [process.stdout!, process.stderr!]) stream.on('data', (chunk: Buffer) => output.push(chunk));
  onTestFinished(async () => {
    process.kill('SIGTERM');
    if (process.exitCode === null) await once(process, 'exit');
    writeFileSync(join(logs, `${port}.out`), Buffer.concat(output));
  });
  let isUp = false;
  await until(`${kind} accepts connections`, () => {
    if (process.exitCode !== null) throw new Error(`${kind} ended: ${Buffer.concat(output).toString()}`);
    const socket = connect(port, '127.0.0.1', () => {
      isUp = true;
    });
    socket.on('error', () => undefined).on('connect', () => socket.destroy());
    return isUp;
  });
  return { port, isOuter: /outer|several/.test(name) };
}

const adapt = (config: string, port: number, target: number) =>
  config
    .replace('127.0.0.1:8080', `127.0.0.1:${target}`)
    // Several processes: on other addresses of this machine.
    .replaceAll(/10\.0\.0\.(1[12]):8080/g, `127.0.0.$1:${target}`)
    .replace('health_port 9464', `health_port ${target}`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('listen 8081', `listen 127.0.0.1:${port}`)
    .replace('bot.example {', `https://localhost:${port} {\n\ttls ${CERTIFICATES}/valid.pem ${CERTIFICATES}/server.key`)
    .replace('http://:8081', `http://:${port}`)
    .replace(/\/etc\/\S+fullchain\.pem/, join(CERTIFICATES, 'valid.pem'))
    .replace(/\/etc\/\S+privkey\.pem/, join(CERTIFICATES, 'server.key'))
    // The balancer's ranges, which contain the sender, as Google's contain the notification service.
    .replace('35.191.0.0/16', '127.0.0.0/24')
    .replace('130.211.0.0/22', '127.0.1.0/24')
    .replace('10.0.0.5', '127.0.0.1');

/** Starts nginx, whose logs are at least as verbose as in a fresh installation. */
function nginx(server: string, folder: string, logs: string): ChildProcess {
  const file = join(folder, 'nginx.conf');
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (one) => `${one}_temp_path ${folder}/${one};`,
  );
  const log = join(logs, `nginx-${folder.slice(-6)}`);
  const http = `${places.join(' ')} access_log ${log}.access; include ${folder}/server.conf;`;
  writeFileSync(join(folder, 'server.conf'), server);
  writeFileSync(file, `daemon off; pid ${folder}/pid; error_log ${log}.error info; events {} http { ${http} }`);
  return spawn('nginx', ['-p', folder, '-c', file, '-e', `${log}.start`], { stdio: ['ignore', 'pipe', 'pipe'] });
}

function caddy(config: string, folder: string): ChildProcess {
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, config.replace('{\n', '{\n\tadmin off\n\tauto_https disable_redirects\n'));
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  return spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  });
}

/** Starts a server that does what a cloud balancer does: it adds the address that connected, and one of its own. */
async function startBalancer(target: number): Promise<Place> {
  const server = createHttp((request, response) => {
    const before = request.headers['x-forwarded-for'];
    const added = `${request.socket.remoteAddress}, 198.51.100.1`;
    const headers = { ...request.headers, 'x-forwarded-for': before ? `${String(before)}, ${added}` : added };
    const onward = httpRequest(
      { port: target, host: '127.0.0.1', method: 'POST', path: request.url, headers },
      (received) => {
        response.writeHead(received.statusCode!);
        received.pipe(response);
      },
    );
    request.pipe(onward);
  });
  onTestFinished(() => void server.close());
  return { port: await listen(server), isOuter: false };
}

async function post({ port, isOuter }: Place, from: string, headers = {}, body = '{}'): Promise<number> {
  const ca = readFileSync(join(CERTIFICATES, 'ca.pem'));
  const options = { host: '127.0.0.1', port, path: PATH, method: 'POST', localAddress: from, headers, agent: false };
  const sent = isOuter
    ? httpsRequest({ ...options, ca, servername: 'localhost', headers: { host: `localhost:${port}`, ...headers } })
    : httpRequest(options);
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [{ statusCode: number; resume(): void }];
  response.resume();
  return response.statusCode;
}

async function startReceiver(trusted: string) {
  const environment = { RECEIVER_SOURCE_CHECK: 'enforce', RECEIVER_SOURCES: SENDER, TRUSTED_PROXIES: trusted };
  const receiver = await openReceiver({ environment });
  onTestFinished(() => receiver.close());
  return { ...receiver, port: Number(new URL(receiver.url).port) };
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** A process behind a load balancer: it takes deliveries, and `/readyz` shows whether it can store them. */
async function startProcess(host: string, port: number) {
  const process = { status: 200, isReady: true, asked: 0, senders: [] as string[], close };
  const server = createHttp((request, response) => {
    if (request.url === '/readyz?part=database') {
      process.asked++;
      response.writeHead(process.isReady ? 200 : 503).end();
      return;
    }
    process.senders.push(String(request.headers['x-forwarded-for']));
    request.resume().on('end', () => response.writeHead(process.status).end());
  });
  server.listen(port, host);
  await once(server, 'listening');
  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  onTestFinished(close);
  return process;
}

function makeLogs(): string {
  const logs = join(temporaryFolder(), 'logs');
  mkdirSync(logs);
  return logs;
}

const outerFile = (kind: Kind) => (kind === 'nginx' ? 'nginx-outer.conf' : 'outer.Caddyfile');
const innerFile = (kind: Kind) => (kind === 'nginx' ? 'nginx-inner.conf' : 'inner.Caddyfile');

describe.skipIf(missing.length > 0 && !process.env.CI)('behind the manual’s proxies', () => {
  /** Expects that the sender is accepted, and a stranger refused by its own address, whatever it claims. */
  async function expectSenderKnown(front: Place, receiver: Receiver): Promise<void> {
    expect(await post(front, SENDER)).toBe(200);
    expect(await post(front, STRANGER)).toBe(403);
    expect(await post(front, STRANGER, { 'x-forwarded-for': SENDER })).toBe(403);
    expect(await receiver.refused()).toEqual([`source ${STRANGER} unlisted`, `source ${STRANGER} unlisted`]);
    expect(await receiver.stored()).toHaveLength(1);
  }

  it.each(['nginx', 'caddy'] as const)('forwards the sender’s address through one proxy (%s)', async (kind) => {
    const receiver = await startReceiver('127.0.0.1');
    const front = await startProxy(kind, outerFile(kind), receiver.port, makeLogs());
    await expectSenderKnown(front, receiver);
  });

  it.each([
    ['nginx', 'nginx'],
    ['nginx', 'caddy'],
    ['caddy', 'nginx'],
    ['caddy', 'caddy'],
  ] as const)('forwards the sender’s address through two proxies (%s before %s)', async (outer, inner) => {
    const receiver = await startReceiver('127.0.0.1');
    const logs = makeLogs();
    const back = await startProxy(inner, innerFile(inner), receiver.port, logs);
    const front = await startProxy(outer, outerFile(outer), back.port, logs);
    await expectSenderKnown(front, receiver);
  });

  it('distinguishes an inner proxy that overwrites the header from an address that is not listed', async () => {
    const receiver = await startReceiver('127.0.0.1');
    const logs = makeLogs();
    const overwriting = await startProxy('nginx', 'nginx-balancer.conf', receiver.port, logs);
    const front = await startProxy('caddy', 'outer.Caddyfile', overwriting.port, logs);
    expect([await post(front, '127.0.0.1'), await receiver.refused()]).toEqual([403, ['source 127.0.0.1 no-sender']]);
  });

  it.each(['nginx', 'caddy'] as const)(
    'forwards the sender’s address through %s behind a cloud balancer',
    async (kind) => {
      const receiver = await startReceiver('127.0.0.1,198.51.100.1');
      const back = await startProxy(kind, innerFile(kind), receiver.port, makeLogs());
      await expectSenderKnown(await startBalancer(back.port), receiver);
    },
  );

  it('finds the sender with nginx behind a balancer whose ranges contain it', async () => {
    const receiver = await startReceiver('127.0.0.1');
    const back = await startProxy('nginx', 'nginx-balancer.conf', receiver.port, makeLogs());
    await expectSenderKnown(await startBalancer(back.port), receiver);
  });

  it.each([
    ['nginx', 'nginx-several.conf'],
    ['caddy', 'several.Caddyfile'],
  ] as const)('shares deliveries among several processes and leaves out one that is down (%s)', async (kind, name) => {
    const port = (await freePorts(1))[0]!;
    const [first, second] = [await startProcess('127.0.0.11', port), await startProcess('127.0.0.12', port)];
    const proxy = await startProxy(kind, name, port, makeLogs());
    const statuses = async (requests: number) =>
      new Set(await Promise.all(Array.from({ length: requests }, () => post(proxy, SENDER))));
    await until('both processes got deliveries', async () => {
      expect(await statuses(4)).toEqual(new Set([200]));
      return first.senders.length > 0 && second.senders.length > 0;
    });
    expect(new Set([...first.senders, ...second.senders])).toEqual(new Set([SENDER]));
    await first.close();
    // nginx tries the other process at once. Caddy does so once it has noticed.
    if (kind === 'nginx') expect(await statuses(20)).toEqual(new Set([200]));
    await until('no delivery gets 502', async () => !(await statuses(20)).has(502));
    // The sender must repeat what one process refuses: another one may have the same reason.
    const before = second.senders.length;
    second.status = 503;
    expect([await post(proxy, SENDER), second.senders.length]).toEqual([503, before + 1]);
  });

  it('sends no deliveries to a process whose database is unavailable (caddy)', async () => {
    const port = (await freePorts(1))[0]!;
    const [first, second] = [await startProcess('127.0.0.11', port), await startProcess('127.0.0.12', port)];
    first.isReady = false;
    const proxy = await startProxy('caddy', 'several.Caddyfile', port, makeLogs());
    // It asks again only after it has read the first response.
    await until('the proxy asked twice for the first process’s readiness', () => first.asked > 1);
    const before = first.senders.length;
    for (let n = 0; n < 6; n++) expect(await post(proxy, SENDER)).toBe(200);
    expect([first.senders.length, second.senders.length > 0]).toEqual([before, true]);
  });

  it.each([
    ['nginx', 'nginx-outer.conf'],
    ['nginx', 'nginx-inner.conf'],
    ['nginx', 'nginx-balancer.conf'],
    ['caddy', 'outer.Caddyfile'],
    ['caddy', 'inner.Caddyfile'],
    ['nginx', 'nginx-several.conf'],
  ] as const)('keeps the secret path out of every log of %s with %s, whatever goes wrong', async (kind, name) => {
    const logs = makeLogs();
    // Registered first, so it runs last: by then the proxy has ended and its output is there, too.
    onTestFinished(() => {
      const written = readdirSync(logs).map((one) => readFileSync(join(logs, one), 'utf8'));
      expect(written.length).toBeGreaterThan(0);
      expect(written.join('')).not.toContain(TOKEN);
    });
    const target = (await freePorts(1))[0]!;
    const place = await startProxy(kind, name, target, logs);
    // Nothing listens behind it. Then the body is too large. Then the server behind it breaks the connection.
    expect(await post(place, SENDER)).toBe(502);
    await post(place, SENDER, {}, 'x'.repeat(2 * 1024 * 1024)).catch(() => undefined);
    const breaking = createTcp((socket) => void socket.destroy()).listen(target, '127.0.0.1');
    await once(breaking, 'listening');
    onTestFinished(() => void breaking.close());
    expect(await post(place, SENDER)).toBe(502);
  });
});
