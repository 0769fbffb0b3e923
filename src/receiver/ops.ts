import fastify from 'fastify';
import { schemaController } from './compilers.ts';

/** What `/readyz` tells: every part by name, and whether it can do its work. */
export type Readiness = Record<string, { ready: boolean; detail?: string }>;

/** Something that Prometheus can scrape. */
interface Scrape {
  contentType: string;
  metrics(): Promise<string>;
}

/** The operator's server: `/healthz` (the process answers), `/readyz` (every part works), `/metrics` (Prometheus). */
export function createOps({ registry, readiness }: { registry: Scrape; readiness(): Promise<Readiness> }) {
  const app = fastify({ logger: false, schemaController, exposeHeadRoutes: true });
  app.get('/healthz', async () => ({ ok: true }));
  app.get('/readyz', async (_request, reply) => {
    const parts = await readiness();
    const ok = Object.values(parts).every((part) => part.ready);
    return reply.code(ok ? 200 : 503).send({ ok, parts });
  });
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ ok: false, error: 'Here are /healthz, /readyz and /metrics.' }),
  );
  return app;
}
