import { rmSync } from 'node:fs';
import { seed, startDiscord } from '../sandbox/discord/index.ts';
import { memoryOf, startBot, wait } from './bot.ts';
import { newFolder, start } from './children.ts';
import type { Naive } from './naive.ts';
import { type Row, RUNS, ratioColumns, report, short, spread } from './table.ts';

const IDLE_MS = 2_000;

interface Result {
  ms: number;
  memory: number;
}

async function ours(env: Record<string, string>): Promise<Result> {
  const folder = newFolder();
  const began = performance.now();
  const bot = await startBot(folder, env);
  while ((await fetch(`${bot.ops}/readyz`)).status !== 200) await wait(5);
  const ms = performance.now() - began;
  await wait(IDLE_MS);
  const memory = memoryOf(bot.pid);
  await bot.stop();
  rmSync(folder, { recursive: true });
  return { ms, memory };
}

async function bare(env: Record<string, string>): Promise<Result> {
  const began = performance.now();
  const client = await start('bench/naive.ts', ['login' satisfies Naive], { env });
  const ms = performance.now() - began;
  await wait(IDLE_MS);
  const memory = memoryOf(client.child.pid!);
  await client.stop();
  return { ms, memory };
}

/** From the start until the gateway is ready, and the idle memory, beside a bare discord.js that only logs in. */
export async function footprint(): Promise<void> {
  const rows: Row[] = [];
  for (const guilds of [0, 200, 2_000]) {
    const discord = await startDiscord({ seed: guilds === 0 ? 'empty' : 'default', limits: 'none' });
    for (let n = 2; n < guilds; n++) discord.act({ do: 'guild.create', name: `Server ${n}`, ownerId: seed.ada });
    const env = { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl, LOG_LEVEL: 'info' };
    const mine: Result[] = [];
    const theirs: Result[] = [];
    for (let run = 0; run < RUNS; run++) {
      mine.push(await ours(env));
      theirs.push(await bare(env));
    }
    for (const [key, of] of [
      ['ms', 'start, ms'],
      ['memory', 'idle memory, MiB'],
    ] as const) {
      rows.push({
        guilds,
        of,
        wanted: 1.5,
        ...ratioColumns(mine.map((result, run) => result[key] / theirs[run]![key])),
        ours: short(spread(mine.map((result) => result[key])).median),
        'discord.js': short(spread(theirs.map((result) => result[key])).median),
      });
    }
    await discord.close();
  }
  report('footprint', rows);
}
