import fastify from 'fastify';

/** A node that forwards calls to another one, except for methods that it does not have. */
export type LimitedNode = Awaited<ReturnType<typeof startLimitedNode>>;

type Refusal = { code: number; message: string } | number;
type Change = (result: never, params: readonly unknown[]) => unknown;

export interface NodeFaults {
  refused?: Readonly<Record<string, Refusal>>;
  changed?: Readonly<Record<string, Change>>;
}

export async function startLimitedNode(rpcUrl: string, missing: readonly string[] = []) {
  let isAway = false;
  const changes = new Map<string, Change>();
  const refused = new Map<string, Refusal>(
    missing.map((method) => [method, { code: -32601, message: `the method ${method} is not available` }]),
  );
  const server = fastify({ forceCloseConnections: true });
  server.post('/', async (request, reply) => {
    const { id, method, params } = request.body as { id: number; method: string; params: unknown[] };
    if (isAway) return reply.code(503).send('gone');
    const error = refused.get(method);
    if (typeof error === 'number') return reply.code(error).type('text/html').send('<h1>Something is wrong</h1>');
    if (error !== undefined) return { jsonrpc: '2.0', id, error };
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(request.body) });
    const change = changes.get(method);
    if (change === undefined) return reply.type('application/json').send(await answer.text());
    return { jsonrpc: '2.0', id, result: await change(((await answer.json()) as { result: never }).result, params) };
  });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    /** true: every response is 503. */
    setAway(away: boolean): void {
      isAway = away;
    },
    /** Refuses methods with this error, or with this HTTP status and an HTML page, from now on; null: no longer. */
    refuse(methods: string | readonly string[], error: Refusal | null): void {
      for (const method of [methods].flat()) {
        if (error === null) refused.delete(method);
        else refused.set(method, error);
      }
    },
    change(method: string, make: Change | null): void {
      if (make === null) changes.delete(method);
      else changes.set(method, make);
    },
    spoil(faults: NodeFaults): void {
      for (const [method, error] of Object.entries(faults.refused ?? {})) refused.set(method, error);
      for (const [method, make] of Object.entries(faults.changed ?? {})) changes.set(method, make);
    },
    repair(): void {
      isAway = false;
      refused.clear();
      changes.clear();
    },
    close: () => server.close(),
  };
}
