import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Enough connections that a due request rarely waits for one. */
const CONNECTIONS = 500;
/** How often requests that are due are sent. */
const TICK_MS = 5;

/** The result of a load. */
export interface Held {
  /** Requests that were sent per second; fewer than wanted if every connection waited for a response. */
  perSecond: number;
  /** Responses other than 200. */
  failed: number;
}

/**
 * Posts bodies of ASCII letters at a constant rate, as cheaply as possible (plain sockets, one request at a time on
 * each), because it shares the machine with the measured program. Calls `atEnd` when the last one is due.
 */
export async function hold(
  url: string,
  { rate, seconds, body, atEnd }: { rate: number; seconds: number; body(): string; atEnd(): unknown },
): Promise<Held> {
  const { hostname, port, pathname } = new URL(url);
  const head = `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: `;
  let failed = 0;
  const connect = async (): Promise<Socket> => {
    const socket = createConnection({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    socket.setEncoding('latin1');
    let answer = '';
    socket.on('data', (chunk: string) => {
      answer += chunk;
      // Every response is one JSON object.
      if (!answer.endsWith('}')) return;
      if (!answer.startsWith('HTTP/1.1 200')) failed++;
      answer = '';
      free.push(socket);
    });
    return socket;
  };
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, connect));
  const free = [...sockets];
  const began = performance.now();
  let sent = 0;
  const all = rate * seconds;
  let elapsed = 0;
  for (; sent < all; elapsed = performance.now() - began) {
    for (const due = Math.min(all, (elapsed / 1_000) * rate); sent < due && free.length > 0; sent++) {
      const text = body();
      free.shift()!.write(`${head}${text.length}\r\n\r\n${text}`, 'latin1');
    }
    await wait(TICK_MS);
  }
  await atEnd();
  while (free.length < sockets.length) await wait(TICK_MS);
  for (const socket of sockets) socket.destroy();
  return { perSecond: (sent / elapsed) * 1_000, failed };
}
