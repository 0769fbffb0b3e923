import { createServer } from 'node:http';
import fastify from 'fastify';
import packageJson from '../../package.json' with { type: 'json' };
import type { Config } from '../config.ts';
import { type Clock, inTime, SECOND } from '../domain/clock.ts';
import { HEADERS, listen, NO_SCHEMAS } from '../listen.ts';
import { createScrape, type GaugeSources } from '../metrics/gauges.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { SCHEMA_VERSION } from '../store/schema.ts';
import type { Interfaces } from '../upstream/interfaces.ts';
import { databasePart, type Readiness, type ReadinessSources, readReadiness } from './readiness.ts';

const MAX_CONNECTIONS = 100;

/** `standby`: it begins to work when the process that works ends. */
export type Role = 'working' | 'standby' | 'receiving';

interface OpsOptions
  extends Pick<GaugeSources, 'file' | 'lastBackup'>,
    Pick<ReadinessSources, 'database' | 'fault' | 'working' | 'unreachable' | 'completeness' | 'clock'> {
  config: Pick<Config, 'OPS_HOST' | 'OPS_PORT'>;
  interfaces: Pick<Interfaces, 'all'>;
  metrics: Pick<Metrics, 'registry'>;
  role(): Role;
  stack: AsyncDisposableStack;
}

/** Returns the URL of `/healthz`, `/readyz` and `/metrics`. */
export async function startOps(options: OpsOptions): Promise<string> {
  const { config, database, fault, interfaces, metrics, working, unreachable, completeness, file, lastBackup, clock } =
    options;
  const scrape = createScrape(metrics.registry, {
    backlog: database.store.metrics.backlog,
    isDatabaseReady: async () => (await databasePart(database, fault(), clock)).ready,
    syncMs: database.syncMs,
    sending: () => working()?.deliverer.state() ?? null,
    shards: () => working()?.gateway.shards() ?? new Map(),
    outages: () => interfaces.all.map(({ label, health }) => ({ network: label, outages: health.outages() })),
    unreachable,
    completeness,
    lastBackup,
    file,
    build: { version: packageJson.version, schema: String(SCHEMA_VERSION), node: process.version },
    clock,
  });
  const outages = () =>
    interfaces.all.map(({ label, network, health }) => ({
      name: label === undefined ? '' : network.name,
      outages: health.outages(),
    }));
  const ops = createOps({ scrape, readiness: () => readReadiness({ ...options, outages }), role: options.role });
  options.stack.defer(() => ops.close());
  return listen(ops, config.OPS_HOST, config.OPS_PORT, 'OPS_PORT');
}

export function createOps({
  scrape,
  readiness,
  role,
}: {
  scrape(): Promise<{ contentType: string; text: string }>;
  readiness(): Promise<Readiness>;
  role(): Role;
}) {
  const app = fastify({
    ...NO_SCHEMAS,
    logger: false,
    http: HEADERS,
    requestTimeout: 10_000,
    // The rest of the shutdown does not wait for a scrape that hangs.
    forceCloseConnections: true,
  });
  app.server.maxConnections = MAX_CONNECTIONS;
  app.get('/healthz', async () => ({ ok: true }));
  app.get<{ Querystring: { part?: string } }>('/readyz', async ({ query: { part } }, reply) => {
    const all = await readiness();
    const parts = part === undefined ? all : { [part]: all[part] ?? { ready: false, detail: 'there is no such part' } };
    const ok = Object.values(parts).every((part) => part.ready);
    return reply.code(ok ? 200 : 503).send({ ok, role: role(), parts });
  });
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await scrape();
    return reply.type(contentType).send(text);
  });
  return app;
}

const QUICK_MS = SECOND;

/** While a server is away, deliveries get 503, so that their senders retry, and `/readyz` is red. */
export async function respondWhileWaiting(
  { HOST, PORT, OPS_HOST, OPS_PORT, ROLES }: Config,
  ready: Promise<void>,
  clock: Clock,
): Promise<void> {
  const isReady = ready.then(() => true);
  if (await inTime(isReady, QUICK_MS, clock)) return;
  await using stack = new AsyncDisposableStack();
  const endpoints = [
    { host: OPS_HOST, port: OPS_PORT },
    ...(ROLES.includes('receive') ? [{ host: HOST, port: PORT }] : []),
  ];
  for (const endpoint of endpoints) {
    const server = createServer(({ url }, response) => {
      const isAlive = endpoint.port === OPS_PORT && url === '/healthz';
      const role: Role = ROLES.includes('work') ? 'standby' : 'receiving';
      const parts = { database: { ready: false, detail: 'waiting for the database' } };
      const text = isAlive ? { ok: true } : { ok: false, role, parts };
      response.writeHead(isAlive ? 200 : 503, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify(text));
    });
    stack.defer(() => new Promise<void>((resolve) => server.close(() => resolve())));
    stack.defer(() => server.closeAllConnections());
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(endpoint, resolve));
  }
  await ready;
}
