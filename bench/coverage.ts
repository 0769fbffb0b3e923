import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

/** Preloaded into each thread of a bot. `GET /` returns what all threads called since the last request. */

export interface Called {
  file: string;
  name: string;
  offset: number;
}

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

async function take(): Promise<Called[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files = result.filter(({ url }) => url.startsWith('file:'));
  return files.flatMap(({ url, functions }) =>
    functions
      // The first function of a file that begins at 0 is the module itself.
      .filter(({ ranges: [range] }) => range!.count > 0 && range!.startOffset > 0)
      .map(({ functionName: name, ranges: [range] }) => ({
        file: fileURLToPath(url),
        name,
        offset: range!.startOffset,
      })),
  );
}

const channel = new BroadcastChannel('coverage');
channel.unref();
if (isMainThread) {
  createServer((_, response) => {
    const all: Called[] = [];
    const add = (called: Called[]) => void all.push(...called);
    void take().then(add);
    channel.onmessage = (event) => add((event as { data: Called[] }).data);
    channel.postMessage(null);
    // Nobody knows how many threads there are. By then each has replied.
    setTimeout(() => response.end(JSON.stringify(all)), 1_000);
  })
    .listen(Number(process.env.COVERAGE_PORT), '127.0.0.1')
    .unref();
} else
  channel.onmessage = ({ data }: { data: unknown }) => {
    // What other threads reply comes here, too.
    if (data === null) void take().then((called) => channel.postMessage(called));
  };
