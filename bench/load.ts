import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import autocannon from 'autocannon';
import { addressOf, bodyOf, hashOf } from './event.ts';

/** The result of posting one delivery repeatedly, as fast as the responses came. */
export interface Load {
  /** Responses with 200 per second. */
  rate: number;
  /** The 99th percentile, in milliseconds. */
  p99: number;
  /** Other responses, and missing ones. */
  failed: number;
}

const TYPE = 'application/json';
const TX_HASH = /0x[0-9a-f]{64}/;
const TX_HASH_LENGTH = 66;

/** `wrk` is written in C and leaves the other core to the server; autocannon, in JavaScript, needs a core for itself. */
export const LOADER: 'wrk' | 'autocannon' = (() => {
  try {
    execFileSync('wrk', ['--version'], { stdio: 'ignore' });
  } catch (error) {
    // It is installed; it prints its version with exit code 1.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'autocannon';
  }
  return 'wrk';
})();

/** Posts an event of 900 bytes over this many connections, one request at a time each; `folder`: for its script. */
export async function postTo(url: string, connections: number, seconds: number, folder: string): Promise<Load> {
  const body = bodyOf(1, addressOf(1));
  if (LOADER === 'wrk') return await byWrk(url, connections, seconds, folder, `wrk.body = [==[${body}]==]`);
  return await byAutocannon(url, connections, seconds, { body });
}

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
  folder: string,
): Promise<Load> {
  const split = targets.map(({ url, body }) => {
    const at = body.search(TX_HASH);
    return { path: new URL(url).pathname, before: body.slice(0, at), after: body.slice(at + TX_HASH_LENGTH) };
  });
  const [{ url }] = targets as [Target];
  if (LOADER === 'wrk') {
    const rows = split.map(({ path, before, after }) => `{ "${path}", [==[${before}]==], [==[${after}]==] }`);
    const request = `local targets = { ${rows.join(', ')} }
local n = ${first}
request = function()
  n = n + 1
  local target = targets[n % #targets + 1]
  local hash = string.format("0x%08x%056x", n * 2654435761 % 4294967296, n)
  return wrk.format(nil, target[1], nil, target[2] .. hash .. target[3])
end`;
    return await byWrk(url, connections, seconds, folder, request);
  }
  let n = first;
  const setupRequest = (given: autocannon.Request): autocannon.Request => {
    n++;
    const { path, before, after } = split[n % split.length]!;
    return { ...given, path, body: `${before}${hashOf(n)}${after}` };
  };
  return await byAutocannon(url, connections, seconds, { requests: [{ setupRequest }] });
}

async function byAutocannon(
  url: string,
  connections: number,
  seconds: number,
  content: Pick<autocannon.Options, 'body' | 'requests'>,
): Promise<Load> {
  const headers = { 'content-type': TYPE };
  const options = { url, method: 'POST', headers, connections, duration: seconds, timeout: 10 } as const;
  const result = await autocannon({ ...options, ...content });
  return {
    rate: result['2xx'] / result.duration,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  };
}

/** `content`: what the requests consist of, in Lua. */
async function byWrk(
  url: string,
  connections: number,
  seconds: number,
  folder: string,
  content: string,
): Promise<Load> {
  const script = join(folder, 'post.lua');
  writeFileSync(
    script,
    `wrk.method = "POST"
wrk.headers["content-type"] = "${TYPE}"
${content}
done = function(summary, latency)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  local rate = (summary.requests - errors.status) * 1e6 / summary.duration
  io.write(string.format('{"rate":%f,"p99":%f,"failed":%d}\\n', rate, latency:percentile(99) / 1000, failed))
end`,
  );
  const args = ['-t1', `-c${connections}`, `-d${seconds}`, '--timeout', '10', '-s', script, url];
  const { stdout } = await promisify(execFile)('wrk', args);
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Load;
}
