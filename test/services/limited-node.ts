import fastify from 'fastify';

/** A node that hands everything on to another one, save the methods that it does not have. */
export interface LimitedNode {
  url: string;
  /** true: answers 503 to everything. */
  setAway(away: boolean): void;
  /** Answers a method with this error from now on; null: no longer. */
  refuse(method: string, error: { code: number; message: string } | null): void;
  close(): Promise<void>;
}

/** Starts it on a free port. */
export async function startLimitedNode(rpcUrl: string, missing: readonly string[]): Promise<LimitedNode> {
  let isAway = false;
  const refused = new Map<string, { code: number; message: string }>(
    missing.map((method) => [method, { code: -32601, message: `the method ${method} is not available` }]),
  );
  const server = fastify();
  server.post('/', async (request, reply) => {
    const { id, method } = request.body as { id: number; method: string };
    if (isAway) return reply.code(503).send('gone');
    const error = refused.get(method);
    if (error !== undefined) return { jsonrpc: '2.0', id, error };
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(request.body) });
    return reply.type('application/json').send(await answer.text());
  });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    setAway(away) {
      isAway = away;
    },
    refuse(method, error) {
      if (error === null) refused.delete(method);
      else refused.set(method, error);
    },
    close: () => server.close(),
  };
}
