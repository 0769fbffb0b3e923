import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RetentionCursor } from '../src/domain/retention.ts';
import { move } from '../src/operator/move.ts';
import { openPostgresStore } from '../src/store/postgres/client.ts';
import { openStore } from '../src/store/sqlite/client.ts';
import { startPostgres } from '../test/store/postgres/server.ts';
import { newFolder } from './children.ts';
import { fillDays } from './postgres/seen.ts';
import { route } from './route.ts';
import { fill } from './sqlite/fill.ts';
import { fillSeen } from './sqlite/seen.ts';
import { type Row, RUNS, ratioColumns, report, short, spread } from './table.ts';

const SUBSCRIPTIONS = 1_000;
const CHANNELS = Array.from({ length: 1_000 }, (_, n) => String(1_000 + n));
/** Transfers that were seen before, over this many days. */
const SEEN = Number(process.env.BENCH_SEEN ?? 1_000_000);
const DAYS = 30;
const LATER = Date.now() + 1_000_000_000;

/** Postgres beside SQLite: moving, routing, and forgetting. Both on this machine's disk, with `fsync`. */
export async function postgres(): Promise<void> {
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '256MB', max_wal_size: '4GB' });
  const folders = [newFolder(), newFolder()];
  for (const folder of folders) fill(folder, SUBSCRIPTIONS, CHANNELS);
  fillSeen(folders[1]!, SEEN);
  const [empty, full, moved] = [
    await server.createDatabase(),
    await server.createDatabase(),
    await server.createDatabase(),
  ];
  for (const url of [empty, full]) await move(`sqlite:${join(folders[0]!, 'bot.sqlite')}`, url);
  const moveS = await seconds(() => move(`sqlite:${join(folders[1]!, 'bot.sqlite')}`, moved));
  await fillDays(full, DAYS, SEEN / DAYS);
  await routing([
    { name: 'SQLite', open: () => openStore(join(folders[0]!, 'bot.sqlite')) },
    { name: `SQLite, ${SEEN} seen`, open: () => openStore(join(folders[1]!, 'bot.sqlite')) },
    { name: 'Postgres', open: () => openPostgresStore(empty) },
    { name: `Postgres, ${SEEN} seen`, open: () => openPostgresStore(full) },
  ]);
  const byRows = await forgetAll(moved);
  const byDays = await forgetAll(full);
  report('moving and forgetting on Postgres', [
    {
      what: `move ${SEEN} transfers from SQLite, compared`,
      s: short(moveS),
      'µs a transfer': short((moveS * 1e6) / SEEN),
    },
    { what: 'forget them row by row', s: short(byRows.s), 'longest step ms': short(byRows.longestMs) },
    {
      what: 'forget as many by dropping their days',
      s: short(byDays.s),
      'longest step ms': short(byDays.longestMs),
      ratio: short(byDays.s / byRows.s),
    },
  ]);
  for (const folder of folders) rmSync(folder, { recursive: true });
}

async function routing(engines: { name: string; open(): ReturnType<typeof openStore> }[]): Promise<void> {
  const times: number[][] = engines.map(() => []);
  for (let run = 0; run < RUNS; run++)
    for (const [n, { open }] of engines.entries()) times[n]!.push(await route(await open(), SUBSCRIPTIONS));
  const rows = engines.map(
    ({ name }, n): Row => ({
      engine: name,
      ...ratioColumns(times[n]!.map((time, run) => time / times[0]![run]!)),
      'µs an event': short(spread(times[n]!).median),
    }),
  );
  report('routing on Postgres', rows);
}

async function forgetAll(url: string): Promise<{ s: number; longestMs: number }> {
  const { store, close } = await openPostgresStore(url);
  let [longestMs, at]: [number, RetentionCursor | null] = [0, null];
  const s = await seconds(async () => {
    do {
      const began = performance.now();
      at = await store.retention.forget(LATER, at);
      longestMs = Math.max(longestMs, performance.now() - began);
    } while (at);
  });
  await close();
  return { s, longestMs };
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}
