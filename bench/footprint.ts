import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type Discord, seed, startDiscord } from '../sandbox/discord/index.ts';
import { SECOND } from '../src/domain/clock.ts';
import { databaseIn, fill } from './database.ts';
import { newFolder, start, startBot } from './processes.ts';
import { compare, inTurns, report } from './table.ts';

/** Start and memory are stable by then. */
const IDLE_MS = 7 * SECOND;
const ADDRESSES = 20;
const GUILDS = 200;

async function read(began: number, pid: number) {
  const ms = performance.now() - began;
  await wait(IDLE_MS);
  const kib = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
  return { 'start, ms': ms, 'idle memory, MiB': kib / 1_024 };
}

async function ours(discord: Discord) {
  using folder = newFolder();
  const database = databaseIn(folder.path);
  await fill(database, ADDRESSES, [seed.harbor.alerts, seed.harbor.whales, seed.orchid.alerts]);
  const began = performance.now();
  const connected = Promise.withResolvers<void>();
  await using bot = await startBot(database, discord, {}, (line) => {
    if (line.includes('"connected to Discord"')) connected.resolve();
  });
  await connected.promise;
  return await read(began, bot.pid);
}

async function bare({ apiUrl, token }: Discord) {
  const began = performance.now();
  await using client = await start('bench/login.js', [], { DISCORD_API_URL: apiUrl, DISCORD_TOKEN: token });
  return await read(began, client.pid);
}

/** Against a bare discord.js that only logs in. */
export async function footprint(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const discord = await startDiscord({ limits: 'none' });
  stack.defer(() => discord.close());
  for (let n = 2; n < GUILDS; n++) discord.act({ do: 'guild.create', name: `Server ${n}`, ownerId: seed.ada });
  const results = await inTurns([() => ours(discord), () => bare(discord)]);
  const rows = (['start, ms', 'idle memory, MiB'] as const).map((figure) => {
    const [mine, theirs] = results.map((runs) => runs.map((run) => run[figure]));
    return { guilds: GUILDS, of: figure, wanted: 2, ...compare('ours', mine!, theirs!, 'discord.js') };
  });
  report('footprint', rows);
}
