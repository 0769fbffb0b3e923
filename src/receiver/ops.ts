import fastify from 'fastify';
import { HEADERS, NO_SCHEMAS } from './server.ts';

/** Connections at the same time, at most: a few scrapers and probes. */
const MAX_CONNECTIONS = 100;

/** What `/readyz` returns: every part by name, and whether it works. */
export type Readiness = Record<string, { ready: boolean; detail?: string }>;

/** What the process does now. `standby`: it begins to work when the one that works ends. */
export type Role = 'working' | 'standby' | 'receiving';

/** The operator's server: `/healthz` (the process responds), `/readyz` (every part works, or the named one), `/metrics` (Prometheus). */
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
    exposeHeadRoutes: true,
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
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ ok: false, error: 'Here are /healthz, /readyz and /metrics.' }),
  );
  return app;
}
