import fastify, { type FastifyRequest } from 'fastify';

/** A response of the stand-in: a status, and JSON or a text as it is; null: none ever comes. */
export type Given = { status?: number; body: unknown; type?: string; headers?: Record<string, string> } | null;

/** Starts a stand-in for an upstream service. A test decides its responses; `requests` are all it got, oldest first. */
export async function startUpstream(answer: (request: FastifyRequest) => Given | Promise<Given>) {
  const requests: { method: string; url: string; headers: Record<string, unknown>; body: unknown }[] = [];
  const app = fastify({ forceCloseConnections: true });
  const state = { answer };
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: unknown) => body);
  app.all('/*', async (request, reply) => {
    const { method, url, headers, body } = request;
    requests.push({ method, url, headers, body });
    const given = await state.answer(request);
    if (given === null) return reply.hijack();
    const text = typeof given.body === 'string' ? given.body : JSON.stringify(given.body);
    return reply
      .code(given.status ?? 200)
      .type(given.type ?? 'application/json')
      .headers(given.headers ?? {})
      .send(text);
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    url,
    requests,
    set: (next: (request: FastifyRequest) => Given | Promise<Given>) => {
      state.answer = next;
    },
    close: () => app.close(),
  };
}

/** A page such as proxies send. */
export const HTML: Given = { status: 502, body: '<html><h1>Bad gateway</h1></html>', type: 'text/html' };
