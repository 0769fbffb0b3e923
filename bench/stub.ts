import fastify from 'fastify';

export type Stub = Awaited<ReturnType<typeof startStub>>;

/** Accepts every message at once, without limits or a gateway. */
export async function startStub() {
  let id = 0;
  const app = fastify({ forceCloseConnections: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.post<{ Body: string }>('/api/v10/channels/:channel/messages', async ({ body }) => {
    stub.onMessage(body);
    return { id: String(++id) };
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ code: 0, message: '404: Not Found' }));
  const stub = {
    apiUrl: `${await app.listen({ host: '127.0.0.1', port: 0 })}/api`,
    onMessage: (_body: string): void => undefined,
    [Symbol.asyncDispose]: async () => app.close(),
  };
  return stub;
}
