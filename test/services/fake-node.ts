import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { MethodMissing, type Node } from '../../services/chain/node.ts';
import { listen } from '../listen.ts';

export interface Asked {
  method: string;
  params: unknown[];
  headers: IncomingHttpHeaders;
  /** How many calls came in the same request; 0: not as a batch. */
  batch: number;
}

export type Reply = { result: unknown } | { error: { code: number; message: string } } | { status: number } | 'hangs';

/** A node without a chain, whose responses a test makes. */
export type FakeNode = Awaited<ReturnType<typeof startFakeNode>>;

export async function startFakeNode(reply: (asked: Asked) => Reply) {
  const asked: Asked[] = [];
  const answer = (text: string, headers: IncomingHttpHeaders, response: ServerResponse): void => {
    const body = JSON.parse(text) as Call | Call[];
    const calls = [body].flat();
    const replies = calls.map(({ method, params }) => {
      const one = { method, params, headers, batch: Array.isArray(body) ? calls.length : 0 };
      asked.push(one);
      return reply(one);
    });
    const odd = replies.find((one) => one === 'hangs' || 'status' in one);
    if (odd === 'hangs') return;
    if (odd !== undefined && 'status' in odd) {
      response.statusCode = odd.status;
      response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not like this"}}');
      return;
    }
    const answers = replies.map((one, index) => ({ jsonrpc: '2.0', id: calls[index]!.id, ...(one as object) }));
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(Buffer.concat(chunks).toString(), request.headers, response));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Call {
  id: number;
  method: string;
  params: unknown[];
}

/** A node in this process that returns these results, and does not have the other methods. */
export function nodeWith(results: Readonly<Record<string, unknown>>): Node & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async call(method, _params, accept) {
      asked.push(method);
      if (!(method in results)) throw new MethodMissing(method);
      accept?.(results[method] as never);
      return results[method] as never;
    },
  };
}
