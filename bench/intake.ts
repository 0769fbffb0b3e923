import { rmSync } from 'node:fs';
import autocannon from 'autocannon';
import { newFolder, slowSync, start } from './children.ts';
import { addressOf, bodyOf } from './event.ts';
import { TOKEN } from './servers.ts';
import { type Row, RUNS, ratioColumns, report, short, spread } from './table.ts';

const SECONDS = 2;

interface Plan {
  connections: number;
  peer: 'bare' | 'append';
  /** What ratio is wanted. */
  wanted: number;
  slow?: true;
}

const plan: Plan[] = [
  { connections: 100, peer: 'bare', wanted: 0.6 },
  { connections: 10, peer: 'bare', wanted: 0.25 },
  { connections: 1, peer: 'append', wanted: 0.9 },
  { connections: 1_000, peer: 'bare', wanted: 0.4 },
  { connections: 100, peer: 'bare', wanted: 0.2, slow: true },
  { connections: 1_000, peer: 'bare', wanted: 0.4, slow: true },
];

interface Result {
  rate: number;
  p99: number;
  /** The event loop's delay, the longest of 100, in milliseconds. */
  loop: number;
  failed: number;
}

/** Puts load on one server: requests a second that were answered 200, and the slowest of 100 in milliseconds. */
async function measure(name: string, connections: number, env: Record<string, string> = {}): Promise<Result> {
  const server = await start<{ url: string }>('bench/servers.ts', [name], { env });
  const load = {
    url: `${server.ready.url}/hooks/${TOKEN}`,
    method: 'POST' as const,
    headers: { 'content-type': 'application/json' },
    body: bodyOf(1, addressOf(1)),
    connections,
    timeout: 10,
  };
  await autocannon({ ...load, duration: 1 });
  await server.ask('reset');
  const result = await autocannon({ ...load, duration: SECONDS });
  const { loop } = await server.ask<{ loop: number }>('loop');
  await server.stop();
  const failed = result.non2xx + result.errors;
  return { rate: result['2xx'] / result.duration, p99: result.latency.p99, loop, failed };
}

async function compare({ connections, peer, wanted, slow }: Plan, env: Record<string, string>): Promise<Row> {
  const ours: Result[] = [];
  const peers: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    ours.push(await measure('receiver', connections, env));
    peers.push((await measure(peer, connections)).rate);
  }
  return {
    connections,
    disk: slow ? '+2 ms a sync' : 'as it is',
    peer,
    wanted,
    ...ratioColumns(ours.map(({ rate }, run) => rate / peers[run]!)),
    'ours/s': short(spread(ours.map(({ rate }) => rate)).median),
    'peer/s': short(spread(peers).median),
    'p99 ms': short(spread(ours.map(({ p99 }) => p99)).median),
    'loop p99 ms': short(spread(ours.map(({ loop }) => loop)).median),
    'not 200': ours.reduce((sum, { failed }) => sum + failed, 0),
  };
}

/** What being durable costs: the receiver up to its 200, beside servers that promise less. */
export async function intake(): Promise<void> {
  const folder = newFolder();
  const slower = slowSync(folder);
  const rows: Row[] = [];
  for (const one of plan) {
    if (one.slow && slower === null) {
      process.stdout.write('Left out: the rows with 2 ms more a sync; they need a C compiler named cc.\n');
      break;
    }
    rows.push(await compare(one, one.slow ? slower! : {}));
  }
  rmSync(folder, { recursive: true });
  report('intake', rows);
}
