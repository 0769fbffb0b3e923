import autocannon from 'autocannon';
import { addressOf, bodyOf, hashOf } from './event.ts';

/** The result of posting as fast as the responses came. */
export interface Load {
  /** Responses with 200 per second. */
  rate: number;
  /** The 99th percentile, in milliseconds. */
  p99: number;
  /** Other responses, and missing ones. */
  failed: number;
}

const TX_HASH = /0x[0-9a-f]{64}/;
const TX_HASH_LENGTH = 66;

/** Posts an event of 900 bytes over this many connections, one request at a time each. */
export const postTo = (url: string, connections: number, seconds: number): Promise<Load> =>
  load(url, connections, seconds, { body: bodyOf(1, addressOf(1)) });

/** A delivery to be posted again and again, each time with another transaction's hash. */
interface Target {
  url: string;
  body: string;
}

/** Posts new transactions, numbered from `first`, to each of these targets in turn. */
export async function postNew(
  targets: readonly Target[],
  first: number,
  connections: number,
  seconds: number,
): Promise<Load> {
  const split = targets.map(({ url, body }) => {
    const at = body.search(TX_HASH);
    return { path: new URL(url).pathname, before: body.slice(0, at), after: body.slice(at + TX_HASH_LENGTH) };
  });
  let n = first;
  const setupRequest = (given: autocannon.Request): autocannon.Request => {
    n++;
    const { path, before, after } = split[n % split.length]!;
    return { ...given, path, body: `${before}${hashOf(n)}${after}` };
  };
  return load(targets[0]!.url, connections, seconds, { requests: [{ setupRequest }] });
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
