import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { type Load, postTo } from './load.ts';
import { newFolder, start } from './processes.ts';
import { compare, inTurns, median, type Row, report } from './table.ts';

const SECONDS = 2;

/** `slow`: on a slower disk. */
const PLAN = [
  { connections: 100, peer: 'bare', wanted: 0.6, slow: false },
  { connections: 1, peer: 'append', wanted: 0.9, slow: false },
  { connections: 1_000, peer: 'bare', wanted: 0.4, slow: false },
  { connections: 100, peer: 'bare', wanted: 0.2, slow: true },
];

/** Hot code is compiled after thousands of requests. */
export async function measure(name: string, connections: number, env: Record<string, string> = {}): Promise<Load> {
  await using server = await start('bench/servers.ts', [name], env);
  await postTo(server.url, connections, connections === 1 ? 5 : 1);
  return await postTo(server.url, connections, SECONDS);
}

/** Every sync takes 2 ms longer; null without a C compiler. */
function slowSync(folder: string): Record<string, string> | null {
  const library = join(folder, 'slow-sync.so');
  const args = ['-shared', '-fPIC', '-o', library, 'bench/slow-sync.c', '-ldl'];
  try {
    execFileSync(process.env.CC ?? 'cc', args, { stdio: 'ignore' });
  } catch {
    return null;
  }
  return { LD_PRELOAD: library };
}

export async function intake(): Promise<void> {
  using folder = newFolder();
  const slower = slowSync(folder.path);
  if (slower === null)
    process.stdout.write('Left out: the row with 2 ms more a sync; it needs a C compiler named cc.\n');
  const rows: Row[] = [];
  for (const { connections, peer, wanted, slow } of PLAN) {
    const env = slow ? slower : {};
    if (env === null) continue;
    const results = await inTurns([() => measure('receiver', connections, env), () => measure(peer, connections)]);
    const [ours, others] = results.map((loads) => loads.map(({ rate }) => rate));
    rows.push({
      connections,
      disk: slow ? '+2 ms a sync' : 'as it is',
      peer,
      wanted,
      ...compare('ours/s', ours!, others!, 'peer/s'),
      'p99 ms': median(results[0]!.map(({ p99 }) => p99)),
      'not 200': results[0]!.reduce((sum, { failed }) => sum + failed, 0),
    });
  }
  report('intake', rows);
}
