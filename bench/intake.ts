import { newFolder, slowSync, start, TOKEN } from './children.ts';
import { type Load, postTo } from './load.ts';
import { inTurns, type Row, ratioColumns, report, short, spread } from './table.ts';

const SECONDS = 2;
/** How long a server is warmed up: its hot code is compiled after thousands of requests. */
const warmUp = (connections: number): number => (connections === 1 ? 5 : 1);

/** Ours against a peer, with the wanted ratio; `slow`: on a slower disk. */
const PLAN = [
  { connections: 100, peer: 'bare', wanted: 0.6, slow: false },
  { connections: 10, peer: 'bare', wanted: 0.25, slow: false },
  { connections: 1, peer: 'append', wanted: 0.9, slow: false },
  { connections: 1_000, peer: 'bare', wanted: 0.4, slow: false },
  { connections: 100, peer: 'bare', wanted: 0.2, slow: true },
  { connections: 1_000, peer: 'bare', wanted: 0.4, slow: true },
];

/** Runs load against one server. */
async function measure(name: string, connections: number, env: Record<string, string> = {}): Promise<Load> {
  const server = await start<{ url: string }>('bench/servers.ts', [name], env);
  const url = `${server.ready.url}/hooks/${TOKEN}`;
  await postTo(url, connections, warmUp(connections));
  const result = await postTo(url, connections, SECONDS);
  await server.stop();
  return result;
}

async function compare(
  { connections, peer, wanted, slow }: (typeof PLAN)[number],
  env: Record<string, string>,
): Promise<Row> {
  const turns = [() => measure('receiver', connections, env), () => measure(peer, connections)];
  const [ours, peers] = (await inTurns(turns)) as [Load[], Load[]];
  return {
    connections,
    disk: slow ? '+2 ms a sync' : 'as it is',
    peer,
    wanted,
    ...ratioColumns(ours.map(({ rate }, run) => rate / peers[run]!.rate)),
    'ours/s': short(spread(ours.map(({ rate }) => rate)).median),
    'peer/s': short(spread(peers.map(({ rate }) => rate)).median),
    'p99 ms': short(spread(ours.map(({ p99 }) => p99)).median),
    'not 200': ours.reduce((sum, { failed }) => sum + failed, 0),
  };
}

/** The cost of durability: the receiver up to its 200, against servers that promise less. */
export async function intake(): Promise<void> {
  using folder = newFolder();
  const slower = slowSync(folder.path);
  const rows: Row[] = [];
  for (const one of PLAN) {
    if (one.slow && slower === null) {
      process.stdout.write('Left out: the rows with 2 ms more a sync; they need a C compiler named cc.\n');
      break;
    }
    rows.push(await compare(one, one.slow ? slower! : {}));
  }
  report('intake', rows);
}
