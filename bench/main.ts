import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import autocannon from 'autocannon';
import { TOKEN } from './servers.ts';

/** Measures durable intake beside its peers, interleaved in one run, and prints ratios; README.md says what they mean. */

const RUNS = Number(process.argv[2] ?? 5);
const SECONDS = 2;

const event = JSON.stringify({
  to: '0x1ea1f375B5dA185eb51edcbED23F3d401f8368cE',
  from: '0x331C1B0cDCE2e9223c707cf07c6515C75Ad95B6b',
  txHash: '0x9d5156039280cfd5fd828293d0351fda88e6f5078db095c63db164c8af7c4f50',
  tokenAddress: '0x5Df217D84e67a4aAc9d130fc7AfED5a94e873f0D',
  blockNumber: 18226326,
  blockHash: '0x724bfcb22f0dcabed508b0074832e5901de0e4b6ae0ff09b6843dd87a36de2e3',
  tokenType: 'ERC-20',
  tokenName: 'GoodDollar',
  tokenSymbol: 'G$',
  tokenDecimals: '2',
  value: '109700',
  projectId: '62caedf9e2719e72815d0703',
  direction: 'incoming',
}).padEnd(900, ' ');

const plan = [
  { connections: 100, peer: 'bare' },
  { connections: 10, peer: 'bare' },
  { connections: 1, peer: 'append' },
  { connections: 1_000, peer: 'bare' },
] as const;

async function start(name: string): Promise<{ child: ChildProcess; url: string; folder: string }> {
  const child = spawn(process.execPath, ['bench/servers.ts', name], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  const [url = '', folder = ''] = line.toString().trim().split(' ');
  return { child, url, folder };
}

/** Requests a second that were answered 200, and the slowest of 100 in milliseconds. */
async function measure(name: string, connections: number): Promise<{ rate: number; p99: number; failed: number }> {
  const { child, url, folder } = await start(name);
  const load = { url: `${url}/hooks/${TOKEN}`, method: 'POST' as const, body: event, connections, timeout: 10 };
  const headers = { 'content-type': 'application/json' };
  await autocannon({ ...load, headers, duration: 1 });
  const result = await autocannon({ ...load, headers, duration: SECONDS });
  const ended = once(child, 'exit');
  child.stdin!.end();
  await ended;
  rmSync(folder, { recursive: true });
  return { rate: result['2xx'] / result.duration, p99: result.latency.p99, failed: result.non2xx + result.errors };
}

const middle = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
const rows: Record<string, string | number>[] = [];
for (const { connections, peer } of plan) {
  const ours: Awaited<ReturnType<typeof measure>>[] = [];
  const ratios: number[] = [];
  const peers: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const mine = await measure('receiver', connections);
    const theirs = await measure(peer, connections);
    ours.push(mine);
    peers.push(theirs.rate);
    ratios.push(mine.rate / theirs.rate);
  }
  rows.push({
    connections,
    peer,
    'ratio median': Number(middle(ratios).toFixed(2)),
    'ratio min': Number(Math.min(...ratios).toFixed(2)),
    'ratio max': Number(Math.max(...ratios).toFixed(2)),
    'ours/s': Math.round(middle(ours.map(({ rate }) => rate))),
    'peer/s': Math.round(middle(peers)),
    'ours p99 ms': middle(ours.map(({ p99 }) => p99)),
    'not 200': ours.reduce((sum, { failed }) => sum + failed, 0),
  });
}
console.table(rows);
writeFileSync(
  'bench/results.json',
  `${JSON.stringify({ node: process.version, cpu: cpus()[0]?.model, cores: cpus().length, runs: RUNS, intake: rows }, null, 2)}\n`,
);
