import { Agent, request } from 'undici';
import { MIB } from '../../src/domain/bytes.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { authorizationOf } from '../credentials.ts';
import { timeoutOf } from './methods.ts';
import { NodeUnreachable } from './node.ts';

/** The longest response that is read, in bytes: the traces of a full block are tens of megabytes. */
const MAX_BYTES = 256 * MIB;
const MAX_CONNECTIONS = 32;
/** The error of a call after closing. */
export const CLOSED = 'The connection to the node is closed';

/** How a node is reached. */
export interface HttpOptions {
  url: string;
  headers?: Readonly<Record<string, string>>;
  clock: Clock;
}

/** A node's response over HTTP. */
export interface HttpResponse {
  status: number;
  text: string;
  retryAfter: unknown;
}

/** A node's HTTP interface. */
export type Http = ReturnType<typeof createHttp>;

/** Creates the connections to a node. There is a time limit for each whole response. */
export function createHttp(options: HttpOptions) {
  const { clock } = options;
  // The URL's credentials are sent as a header; they never appear in an error.
  const { url, headers } = target(options);
  const agent = new Agent({ connections: MAX_CONNECTIONS, headersTimeout: 0, bodyTimeout: 0 });
  const underWay = new Set<AbortController>();
  let isClosed = false;

  function assertOpen(): void {
    if (isClosed) throw new NodeUnreachable(CLOSED);
  }

  return {
    /** @throws {NodeUnreachable} when it is closed. */
    assertOpen,
    /** Posts a body and reads the response. `method` decides the time limit. @throws {NodeUnreachable} */
    async post(body: unknown, method: string): Promise<HttpResponse> {
      const timeoutMs = timeoutOf(method);
      const controller = new AbortController();
      underWay.add(controller);
      const cancel = clock.after(timeoutMs, () => controller.abort());
      try {
        const response = await request(url, {
          method: 'POST',
          headers,
          body: JSON.stringify(body),
          dispatcher: agent,
          signal: controller.signal,
        });
        const text = await textOf(response.body);
        return { status: response.statusCode, text, retryAfter: response.headers['retry-after'] };
      } catch {
        assertOpen();
        if (controller.signal.aborted) {
          throw new NodeUnreachable(`The node does not respond to ${method} within ${timeoutMs} ms`);
        }
        throw new NodeUnreachable(`The node does not respond to ${method}`);
      } finally {
        cancel();
        underWay.delete(controller);
      }
    },
    /** Abandons the posts under way. */
    close(): void {
      isClosed = true;
      for (const controller of underWay) controller.abort();
      void agent.destroy();
    },
  };
}

function target({ url: given, headers = {} }: HttpOptions): { url: string; headers: Record<string, string> } {
  const url = new URL(given);
  const authorization = authorizationOf(url);
  url.username = '';
  url.password = '';
  return { url: url.href, headers: { 'content-type': 'application/json', ...authorization, ...headers } };
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error('too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
