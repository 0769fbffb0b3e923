import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect } from 'vitest';
import { listen } from '../listen.ts';

export interface Received {
  method: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

export type Event = Record<
  'value' | 'txHash' | 'blockHash' | 'from' | 'to' | 'tokenType' | 'direction' | 'tokenDecimals',
  string | undefined
> & { tokenId?: number; removed?: boolean; [field: string]: unknown };

/** A webhook's receiver that keeps its requests and returns the status it is set to. */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export async function startReceiver() {
  const received: Received[] = [];
  let status: number | null = 200;
  let unanswered: ServerResponse[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    // A bot of another test may still probe a port that its receiver had: it posts to /hooks/probe, without a body.
    if (!['/hook', '/elsewhere'].includes(request.url!)) return void response.writeHead(404).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, headers } = request;
    received.push({ method, headers, body: Buffer.concat(chunks).toString() });
    if (status === null) unanswered.push(response);
    else response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
  };
  const server = createServer((request, response) => void handle(request, response).catch(() => undefined));
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    events: () => received.map(({ body }) => JSON.parse(body) as Event),
    async until(count: number): Promise<Received[]> {
      await expect
        .poll(() => received.length, { message: 'requests that came in', interval: 5, timeout: 120_000 })
        .toBeGreaterThanOrEqual(count);
      return received;
    },
    /** null: it does not respond from now on. */
    answer(next: number | null): void {
      status = next;
    },
    /** Returns a status to the requests that it has not responded to. */
    release(late: number): void {
      for (const response of unanswered) response.writeHead(late).end();
      unanswered = [];
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
