import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import autocannon from 'autocannon';
import { addressOf, bodyOf } from './event.ts';

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

/** `wrk` is written in C and leaves the other core to the server; autocannon, in JavaScript, needs a core for itself. */
export const loader: 'wrk' | 'autocannon' = (() => {
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
  if (loader === 'wrk') return await byWrk(url, connections, seconds, folder, body);
  const headers = { 'content-type': TYPE };
  const result = await autocannon({ url, method: 'POST', headers, body, connections, duration: seconds, timeout: 10 });
  return {
    rate: result['2xx'] / result.duration,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  };
}

async function byWrk(url: string, connections: number, seconds: number, folder: string, body: string): Promise<Load> {
  const script = join(folder, 'post.lua');
  writeFileSync(
    script,
    `wrk.method = "POST"
wrk.headers["content-type"] = "${TYPE}"
wrk.body = [==[${body}]==]
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
