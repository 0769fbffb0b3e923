import fastify from 'fastify';

/** A node that hands everything on to another one, save the methods that it does not have. */
export interface LimitedNode {
  url: string;
  /** true: answers 503 to everything. */
  setAway(away: boolean): void;
  close(): Promise<void>;
}

/** Starts it on a free port. */
export async function startLimitedNode(rpcUrl: string, missing: readonly string[]): Promise<LimitedNode> {
  let isAway = false;
  const server = fastify();
  server.post('/', async (request, reply) => {
    const { id, method } = request.body as { id: number; method: string };
    if (isAway) return reply.code(503).send('gone');
    if (missing.includes(method)) {
      return { jsonrpc: '2.0', id, error: { code: -32601, message: `the method ${method} is not available` } };
    }
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
    close: () => server.close(),
  };
}
