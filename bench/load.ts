import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import autocannon from 'autocannon';
import { addressOf, bodyOf } from './event.ts';

export type Load = Awaited<ReturnType<typeof postTo>>;

/** One request at a time on each connection, as fast as the responses come; without `body` always the same event. */
export async function postTo(url: string, connections: number, seconds: number, body?: () => string) {
  const setupRequest = (given: autocannon.Request) => ({ ...given, body: body!() });
  const result = await autocannon({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    connections,
    duration: seconds,
    timeout: 10,
    ...(body ? { requests: [{ setupRequest }] } : { body: bodyOf(1, addressOf(1)) }),
  });
  return {
    /** Responses with 200 per second. */
    rate: result['2xx'] / result.duration,
    p99: result.latency.p99,
    /** Missing responses count, too. */
    failed: result.non2xx + result.errors,
  };
}

export async function many(times: number, atOnce: number, run: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < times) await run(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const TICK_MS = 5;

interface Steady {
  /** Requests per second. */
  rate: number;
  requests: number;
  /** Returns the next request's body, of ASCII letters. */
  body(): string;
  /** Called when the last request is due. */
  atEnd?(): Promise<void>;
  /** Default: enough that a due request rarely waits for one. */
  connections?: number;
}

/** As cheap as possible (plain sockets, one request at a time on each): it shares the machine with what is measured. */
export async function hold(url: string, { rate, requests, body, atEnd, connections = 500 }: Steady) {
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
  const sockets = await Promise.all(Array.from({ length: connections }, connect));
  const free = [...sockets];
  const began = performance.now();
  let sent = 0;
  let elapsed = 0;
  for (; sent < requests; elapsed = performance.now() - began) {
    for (const due = Math.min(requests, (elapsed / 1_000) * rate); sent < due && free.length > 0; sent++) {
      const text = body();
      free.shift()!.write(`${head}${text.length}\r\n\r\n${text}`, 'latin1');
    }
    await wait(TICK_MS);
  }
  await atEnd?.();
  while (free.length < sockets.length) await wait(TICK_MS);
  for (const socket of sockets) socket.destroy();
  return {
    /** Fewer than wanted if every connection waited for a response. */
    perSecond: (sent / elapsed) * 1_000,
    /** Responses other than 200. */
    failed,
  };
}
