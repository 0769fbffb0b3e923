import { DAY } from '../src/domain/clock.ts';
import { move } from '../src/operator/move.ts';
import { openPostgresStore } from '../src/store/postgres/client.ts';
import { openStore } from '../src/store/sqlite/client.ts';
import type { Cursor } from '../src/store/store.ts';
import { type PostgresServer, startPostgres } from '../test/store/postgres/server.ts';
import { fileIn, newFolder } from './children.ts';
import { fill as fillPostgres } from './postgres/fill.ts';
import { fillDays, readKeys, workOf } from './postgres/seen.ts';
import { watch } from './postgres/watch.ts';
import { type Filled, routeInTurns } from './route.ts';
import { fill } from './sqlite/fill.ts';
import { fillSeen } from './sqlite/seen.ts';
import { type Row, ratioColumns, report, short, spread } from './table.ts';
import { CHANNELS, holdRates, SUBSCRIPTIONS } from './whole.ts';

const FEW = 1_000;
const MANY = 1_000_000;
/** Transfers that were seen before, over this many days; 50 million take 70 GB and more than half an hour to generate. */
const SEEN = Number(process.env.BENCH_SEEN ?? 1_000_000);
const DAYS = 30;
/** Days that are dropped. */
const DROPPED = 2;
const MOVED = 300_000;
/** Events per second on the whole way. */
const RATES = [1_000, 2_000, 3_000];

/** Postgres against SQLite: routing, the whole path, deleting old data and moving. Both on one disk, with `fsync`. */
export async function postgres(): Promise<void> {
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '1GB', max_wal_size: '4GB' });
  const seen = await server.createDatabase();
  await fillPostgres(seen, FEW, CHANNELS);
  await fillDays(seen, DAYS, Math.round(SEEN / DAYS));
  await routing(server, seen);
  await wholeWay(await server.createDatabase());
  await pruning(seen);
  await moving(await server.createDatabase());
}

/** Routing an event, by the room `src/routing/` alone: with nothing seen and much, with few subscriptions and many. */
async function routing(server: PostgresServer, seen: string): Promise<void> {
  const [none, million] = [await server.createDatabase(), await server.createDatabase()];
  await fillPostgres(none, FEW, CHANNELS);
  await fillPostgres(million, MANY, CHANNELS);
  using few = newFolder();
  using many = newFolder();
  fill(few.path, FEW, CHANNELS);
  fill(many.path, MANY, CHANNELS);
  await routeOn([
    { name: 'SQLite', ...(await openStore(fileIn(few.path))), subscriptions: FEW },
    { name: `SQLite, ${MANY} subscriptions`, ...(await openStore(fileIn(many.path))), subscriptions: MANY },
    { name: 'Postgres', ...(await openPostgresStore(none)), subscriptions: FEW },
    { name: `Postgres, ${MANY} subscriptions`, ...(await openPostgresStore(million)), subscriptions: MANY },
    {
      name: `Postgres, ${SEEN} seen`,
      ...(await openPostgresStore(seen)),
      subscriptions: FEW,
      warm: () => readKeys(seen),
    },
  ]);
}

/** Reports the routing in each database, as a ratio to the first one. */
async function routeOn(databases: readonly (Filled & { name: string })[]): Promise<void> {
  const times = await routeInTurns(databases);
  const rows = databases.map(
    ({ name }, n): Row => ({
      engine: name,
      ...ratioColumns(times[n]!.map((time, run) => time / times[0]![run]!)),
      'µs an event': short(spread(times[n]!).median),
    }),
  );
  report('routing on Postgres', rows);
}

/** From the request to Discord on each engine, in turns. */
async function wholeWay(url: string): Promise<void> {
  using folder = newFolder();
  fill(folder.path, SUBSCRIPTIONS, CHANNELS);
  await fillPostgres(url, SUBSCRIPTIONS, CHANNELS);
  const server = await watch(url);
  const sqlite = await holdRates(folder.path, RATES);
  const onPostgres = await holdRates(folder.path, RATES, { DATABASE_URL: url, SECRETS_KEY }, server.seconds);
  await server.close();
  report('the whole way on Postgres', [
    ...sqlite.map((row) => ({ engine: 'SQLite', ...row })),
    ...onPostgres.map((row) => ({ engine: 'Postgres', ...row })),
  ]);
}

/**
 * Deleting what was moved row by row, and the oldest days by dropping them: in one database that has every key.
 * Calls the store directly, without the rest of the bot.
 */
async function pruning(url: string): Promise<void> {
  const { store, close } = await openPostgresStore(url);
  const before = (Math.floor(Date.now() / DAY) - DAYS + DROPPED) * DAY;
  const byRows = { s: 0, longestMs: 0 };
  const byDays = { s: 0, longestMs: 0 };
  let at: Cursor<'retention'> | null = null;
  do {
    const sum = workOf(at) === 'rows' ? byRows : byDays;
    const began = performance.now();
    at = await store.retention.prune(before, at);
    const ms = performance.now() - began;
    sum.s += ms / 1_000;
    sum.longestMs = Math.max(sum.longestMs, ms);
  } while (at && workOf(at) !== 'rest');
  await close();
  const rows = Math.round(SEEN / DAYS);
  const each = ({ s, longestMs }: typeof byRows, transfers: number) => ({
    s: short(s),
    'µs a transfer': short((s * 1e6) / transfers),
    'longest step ms': short(longestMs),
  });
  report('deleting old data on Postgres', [
    { what: `${rows} row by row`, ...each(byRows, rows) },
    {
      what: `${DROPPED} days of ${rows} by dropping them`,
      ...each(byDays, rows * DROPPED),
      ratio: short(byDays.s / DROPPED / byRows.s),
    },
  ]);
}

/** Moving an installation from SQLite, every row compared, by the room `src/operator/` alone. */
async function moving(url: string): Promise<void> {
  using folder = newFolder();
  fill(folder.path, FEW, CHANNELS);
  fillSeen(folder.path, MOVED);
  const began = performance.now();
  await move(`sqlite:${fileIn(folder.path)}`, url);
  const s = (performance.now() - began) / 1_000;
  report('moving to Postgres', [{ transfers: MOVED, s: short(s), 'µs a transfer': short((s * 1e6) / MOVED) }]);
}

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
