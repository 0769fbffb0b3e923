import { statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { openStore } from '../src/store/sqlite/client.ts';
import { memoryOf, mostMemoryOf, startBot } from './bot.ts';
import { fileIn, newFolder } from './children.ts';
import { addressOf, bodyOf } from './event.ts';
import { many } from './pace.ts';
import { nextEvent, routeInTurns } from './route.ts';
import { addAlerts, pruneAlerts } from './sqlite/alerts.ts';
import { fill } from './sqlite/fill.ts';
import { fillSeen, readKeys } from './sqlite/seen.ts';
import { type Row, RUNS, ratioColumns, report, short, spread } from './table.ts';

const SIZES = [1_000, 100_000, 1_000_000];
/** Transfers that were seen before; 50 million take 38 GB and about ten minutes to generate. */
const SEEN = Number(process.env.BENCH_SEEN ?? 1_000_000);
/** The number of deliveries in the load, and how many are concurrent. */
const LOAD = 20_000;
const CONCURRENCY = 20;
const ALERTS = 100_000;
const CHANNELS = Array.from({ length: 1_000 }, (_, n) => String(1_000 + n));
/** An address where nothing responds. */
const NOWHERE = { DISCORD_TOKEN: 'none', DISCORD_API_URL: 'http://127.0.0.1:9/api' };

const openIn = (folder: string) => openStore(fileIn(folder));

/** The bot's start time in milliseconds, and its memory a moment later, in MiB. */
async function startUp(folder: string): Promise<{ ms: number; memory: number }> {
  await using stack = new AsyncDisposableStack();
  const bot = stack.adopt(await startBot(folder, NOWHERE), ({ stop }) => stop());
  await wait(2_000);
  return { ms: bot.startMs, memory: memoryOf(bot.pid) };
}

/** Peak memory, in MiB, while deliveries come as fast as they are acknowledged and until all are routed. */
async function memoryInUse(folder: string, subscriptions: number): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const bot = stack.adopt(await startBot(folder, NOWHERE), ({ stop }) => stop());
  await many(LOAD, CONCURRENCY, () => {
    const n = nextEvent();
    return bot.post(bodyOf(n, addressOf((n * 7_919) % subscriptions)));
  });
  while ((await bot.waiting()).inbox > 0) await wait(100);
  return mostMemoryOf(bot.pid);
}

/** The cost of more subscriptions: routing by its room alone, start and memory of the whole bot. */
async function subscriptions(): Promise<void> {
  using stack = new DisposableStack();
  const folders = SIZES.map((size) => {
    const { path } = stack.use(newFolder());
    fill(path, size, CHANNELS);
    return path;
  });
  const databases = SIZES.map(async (size, n) => ({ ...(await openIn(folders[n]!)), subscriptions: size }));
  const times = await routeInTurns(await Promise.all(databases));
  const rows: Row[] = [];
  for (const [n, size] of SIZES.entries()) {
    const { ms, memory } = await startUp(folders[n]!);
    const inUse = await memoryInUse(folders[n]!, size);
    rows.push({
      subscriptions: size,
      wanted: 1.3,
      ...ratioColumns(times[n]!.map((time, run) => time / times[0]![run]!)),
      'µs an event': short(spread(times[n]!).median),
      'start ms': short(ms),
      'memory MiB': short(memory),
      'under load MiB': short(inUse),
    });
  }
  report('growth', rows);
}

/** The cost of having seen many transfers: routing by its room alone, memory of the whole bot. */
async function seen(): Promise<void> {
  using stack = new DisposableStack();
  const [empty, full] = [stack.use(newFolder()).path, stack.use(newFolder()).path];
  const began = performance.now();
  fillSeen(full, SEEN);
  process.stdout.write(`${SEEN} seen transfers were made up in ${short((performance.now() - began) / 1_000)} s.\n`);
  for (const folder of [empty, full]) fill(folder, SIZES[0]!, CHANNELS);
  const databases = [empty, full].map(async (folder) => ({
    ...(await openIn(folder)),
    subscriptions: SIZES[0]!,
    warm: () => readKeys(folder),
  }));
  const times = await routeInTurns(await Promise.all(databases));
  report('seen', [
    {
      seen: SEEN,
      wanted: SEEN > 1_000_000 ? 2.5 : 1.5,
      ...ratioColumns(times[1]!.map((time, run) => time / times[0]![run]!)),
      'µs an event': short(spread(times[1]!).median),
      'µs when empty': short(spread(times[0]!).median),
      'bytes a transfer': Math.round(statSync(fileIn(full)).size / SEEN),
      'memory MiB': short((await startUp(full)).memory),
    },
  ]);
}

/** The cost of undelivered alerts in the whole bot, and of deleting them by the store alone. */
async function undelivered(): Promise<void> {
  const [without, waiting]: number[][] = [[], []];
  const longest: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    using folder = newFolder();
    fill(folder.path, 1, CHANNELS);
    without!.push((await startUp(folder.path)).memory);
    addAlerts(folder.path, ALERTS, CHANNELS);
    waiting!.push((await startUp(folder.path)).memory);
    longest.push(pruneAlerts(folder.path));
  }
  const more = spread(waiting!.map((memory, run) => memory - without![run]!));
  const block = spread(longest);
  report('undelivered', [
    { figure: `MiB for ${ALERTS} undelivered alerts`, wanted: 20, median: short(more.median), max: short(more.max) },
    { figure: 'longest step of retention, ms', wanted: 20, median: short(block.median), max: short(block.max) },
  ]);
}

/** The cost of more subscriptions, seen transfers and undelivered alerts. */
export async function growth(): Promise<void> {
  await subscriptions();
  await seen();
  await undelivered();
}
