import { setTimeout as wait } from 'node:timers/promises';
import { seed, startDiscord } from '../sandbox/discord/index.ts';
import { SECOND } from '../src/domain/clock.ts';
import { memoryOf, startBot } from './bot.ts';
import { newFolder, start } from './children.ts';
import { fill } from './sqlite/database.ts';
import { inTurns, type Row, ratioColumns, report, short, spread } from './table.ts';

/** Start and memory are stable by then. */
const IDLE_MS = 7 * SECOND;
const ADDRESSES = 20;

interface Result {
  ms: number;
  idle: number;
}

async function ours(env: Record<string, string>): Promise<Result> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(newFolder());
  fill(folder.path, ADDRESSES, [seed.harbor.alerts, seed.harbor.whales, seed.orchid.alerts]);
  const began = performance.now();
  const connected = Promise.withResolvers<void>();
  const bot = await startBot(folder.path, env, (line) => {
    if (line.includes('"connected to Discord"')) connected.resolve();
  });
  stack.defer(() => bot.stop());
  await connected.promise;
  const ms = performance.now() - began;
  await wait(IDLE_MS);
  return { ms, idle: memoryOf(bot.pid) };
}

async function bare(env: Record<string, string>): Promise<Result> {
  await using stack = new AsyncDisposableStack();
  const began = performance.now();
  const client = await start('bench/login.js', [], env);
  stack.defer(() => client.stop());
  const ms = performance.now() - began;
  await wait(IDLE_MS);
  return { ms, idle: memoryOf(client.pid) };
}

/** Time from the start until the gateway is ready, and memory, against a bare discord.js that only logs in. */
export async function footprint(): Promise<void> {
  const rows: Row[] = [];
  for (const guilds of [0, 200, 2_000]) {
    await using stack = new AsyncDisposableStack();
    const discord = await startDiscord({ seed: guilds === 0 ? 'empty' : 'default', limits: 'none' });
    stack.defer(() => discord.close());
    for (let n = 2; n < guilds; n++) discord.act({ do: 'guild.create', name: `Server ${n}`, ownerId: seed.ada });
    const env = { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl, LOG_LEVEL: 'info' };
    const [mine, theirs] = (await inTurns([() => ours(env), () => bare(env)])) as [Result[], Result[]];
    for (const [key, of] of [
      ['ms', 'start, ms'],
      ['idle', 'idle memory, MiB'],
    ] as const) {
      rows.push({
        guilds,
        of,
        wanted: 2,
        ...ratioColumns(mine.map((result, run) => result[key] / theirs[run]![key])),
        ours: short(spread(mine.map((result) => result[key])).median),
        'discord.js': short(spread(theirs.map((result) => result[key])).median),
      });
    }
  }
  report('footprint', rows);
}
