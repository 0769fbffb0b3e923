import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A minimal Discord that accepts every message at once, without limits or a gateway. */
export interface Stub {
  apiUrl: string;
  /** Gets the body of each message as it arrives; the measurement sets it. */
  onMessage: (body: string) => void;
  close(): void;
}

/** Starts a minimal Discord. */
export async function startStub(): Promise<Stub> {
  let id = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      if (!request.url?.endsWith('/messages')) {
        response.statusCode = 404;
        return response.end('{"code":0,"message":"404: Not Found"}');
      }
      stub.onMessage(Buffer.concat(chunks).toString());
      return response.end(`{"id":"${++id}"}`);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const stub: Stub = {
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
    onMessage: () => undefined,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return stub;
}
