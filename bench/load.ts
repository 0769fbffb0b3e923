import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import autocannon from 'autocannon';
import { addressOf, bodyOf } from './event.ts';

/** The result of posting as fast as the responses came. */
export interface Load {
  /** Responses with 200 per second. */
  rate: number;
  /** The 99th percentile, in milliseconds. */
  p99: number;
  /** Other responses, and missing ones. */
  failed: number;
}

/** Posts an event of 900 bytes over this many connections, one request at a time each. */
export const postTo = (url: string, connections: number, seconds: number): Promise<Load> =>
  load(url, connections, seconds, { body: bodyOf(1, addressOf(1)) });

/** The same with another event for each request: the n-th one of `eventOf`, from `first` on. */
export async function postNew(
  url: string,
  connections: number,
  seconds: number,
  { first, eventOf }: { first: number; eventOf(n: number): { path: string; body: string } },
): Promise<Load> {
  let n = first;
  const setupRequest = (given: autocannon.Request): autocannon.Request => ({ ...given, ...eventOf(n++) });
  return load(url, connections, seconds, { requests: [{ setupRequest }] });
}

async function load(
  url: string,
  connections: number,
  seconds: number,
  content: Pick<autocannon.Options, 'body' | 'requests'>,
): Promise<Load> {
  const headers = { 'content-type': 'application/json' };
  const options = { url, method: 'POST', headers, connections, duration: seconds, timeout: 10 } as const;
  const result = await autocannon({ ...options, ...content });
  return {
    rate: result['2xx'] / result.duration,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  };
}

/** Runs something `times` times with limited concurrency. */
export async function many(times: number, atOnce: number, run: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < times) await run(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** How often requests that are due are sent. */
const TICK_MS = 5;

/** The result of {@link hold}. */
export interface Held {
  /** Requests that were sent per second; fewer than wanted if every connection waited for a response. */
  perSecond: number;
  /** Responses other than 200. */
  failed: number;
}

/** A constant load. */
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

/**
 * Posts at a constant rate, as cheaply as possible (plain sockets, one request at a time on each), because it shares the
 * machine with the measured program.
 */
export async function hold(url: string, { rate, requests, body, atEnd, connections = 500 }: Steady): Promise<Held> {
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
  return { perSecond: (sent / elapsed) * 1_000, failed };
}
