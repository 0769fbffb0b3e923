import { statSync } from 'node:fs';
import { systemClock } from '../src/domain/clock.ts';
import { openSqlite } from '../src/store/sqlite/open.ts';
import { fileIn, newFolder } from './children.ts';
import { routeInTurns } from './route.ts';
import { fill } from './sqlite/database.ts';
import { fillSeen } from './sqlite/seen.ts';
import { type Row, ratioColumns, report, short, spread } from './table.ts';

const SIZES = [1_000, 100_000, 1_000_000];
/** Transfers that were seen before. */
const SEEN = 1_000_000;
const CHANNELS = Array.from({ length: 1_000 }, (_, n) => String(1_000 + n));

const openIn = (folder: string) => openSqlite(fileIn(folder), { clock: systemClock });

/** What more subscriptions cost the router. */
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
    rows.push({
      subscriptions: size,
      wanted: 1.3,
      ...ratioColumns(times[n]!.map((time, run) => time / times[0]![run]!)),
      'µs an event': short(spread(times[n]!).median),
    });
  }
  report('growth', rows);
}

/** What many seen transfers cost the router. */
async function seen(): Promise<void> {
  using stack = new DisposableStack();
  const [empty, full] = [stack.use(newFolder()).path, stack.use(newFolder()).path];
  fillSeen(full, SEEN);
  for (const folder of [empty, full]) fill(folder, SIZES[0]!, CHANNELS);
  const databases = [empty, full].map(async (folder) => ({ ...(await openIn(folder)), subscriptions: SIZES[0]! }));
  const times = await routeInTurns(await Promise.all(databases));
  report('seen', [
    {
      seen: SEEN,
      wanted: 1.5,
      ...ratioColumns(times[1]!.map((time, run) => time / times[0]![run]!)),
      'µs an event': short(spread(times[1]!).median),
      'µs when empty': short(spread(times[0]!).median),
      'bytes a transfer': Math.round(statSync(fileIn(full)).size / SEEN),
    },
  ]);
}

/** The cost of more subscriptions and of seen transfers. */
export async function growth(): Promise<void> {
  await subscriptions();
  await seen();
}
