import fastify from 'fastify';

/** A minimal Discord that accepts every message at once, without limits or a gateway. */
export interface Stub {
  apiUrl: string;
  /** Gets the body of each message as it arrives; the measurement sets it. */
  onMessage: (body: string) => void;
  close(): Promise<void>;
}

/** Starts a minimal Discord. */
export async function startStub(): Promise<Stub> {
  let id = 0;
  const app = fastify({ forceCloseConnections: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.post<{ Body: string }>('/api/v10/channels/:channel/messages', async ({ body }) => {
    stub.onMessage(body);
    return { id: String(++id) };
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ code: 0, message: '404: Not Found' }));
  const stub: Stub = {
    apiUrl: `${await app.listen({ host: '127.0.0.1', port: 0 })}/api`,
    onMessage: () => undefined,
    close: () => app.close(),
  };
  return stub;
}
