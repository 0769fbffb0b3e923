import fastify from 'fastify';
import { HEADERS, NO_SCHEMAS } from './server.ts';

const MAX_CONNECTIONS = 100;

export type Readiness = Record<string, { ready: boolean; detail?: string }>;

/** `standby`: it begins to work when the process that works ends. */
export type Role = 'working' | 'standby' | 'receiving';

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
