import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import pino from 'pino';
import { databaseFile, isPostgres } from '../src/config.ts';
import { DAY, systemClock } from '../src/domain/clock.ts';
import { startRouter } from '../src/routing/router.ts';
import { openSqlite } from '../src/store/sqlite/open.ts';
import type { Store } from '../src/store/store.ts';
import { openForTest } from '../test/store/postgres/opened.ts';
import { startPostgres } from '../test/store/postgres/server.ts';
import { databaseIn, fill, insertRows } from './database.ts';
import { addressOf, bodyOf, hashOf, strangerOf, transferOf } from './event.ts';
import { newFolder } from './processes.ts';
import { compare, inTurns, type Row, report } from './table.ts';

const PLAN = [
  { subscriptions: 1_000, seen: 0 },
  { subscriptions: 1_000_000, seen: 0 },
  { subscriptions: 1_000, seen: 1_000_000 },
];
const CHANNELS = Array.from({ length: 1_000 }, (_, n) => String(1_000 + n));
const EVENTS = 5_000;
const SEEN_FROM = 100_000_000;
/** Per second. A thread checks a large file after it was opened: on a slow disk with hardly any processor time. */
const IDLE = { cores: 0.02, bytes: 1024 * 1024 };

let sent = 0;

/** How much slower the router gets with more subscriptions and seen transfers, without the rest of the bot. */
export async function growth(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  report('growth', await grow(async () => databaseIn(stack.use(newFolder()).path)));
  const server = stack.use(await startPostgres());
  report('growth on Postgres', await grow(() => server.createDatabase()));
}

async function grow(create: () => Promise<string>): Promise<Row[]> {
  await using stack = new AsyncDisposableStack();
  const runs: (() => Promise<number>)[] = [];
  for (const { subscriptions, seen } of PLAN) {
    const url = await create();
    await fill(url, subscriptions, CHANNELS);
    await fillSeen(url, seen);
    const { store, close } = await open(url);
    stack.defer(close);
    runs.push(() => route(store, subscriptions));
  }
  await untilIdle();
  for (const warmUp of runs) await warmUp();
  const [few, ...others] = (await inTurns(runs)) as [number[], ...number[][]];
  return others.map((times, n) => ({
    ...PLAN[n + 1]!,
    wanted: 1.5,
    ...compare('µs an event', times, few, 'µs with few'),
  }));
}

const open = (url: string) => (isPostgres(url) ? openForTest(url) : openSqlite(databaseFile({ DATABASE_URL: url })));

/** Nobody watched them; they are spread over the last 30 days. */
function fillSeen(url: string, count: number): Promise<void> {
  const begun = Date.now() - 29 * DAY;
  const seenAt = (n: number) => Math.floor(begun + (n * 29 * DAY) / count);
  const key = () => randomBytes(16).toString('hex');
  return insertRows(url, count, {
    transfers: (n) => ({
      key: key(),
      scope: 0,
      network: 0,
      txHash: hashOf(SEEN_FROM + n),
      seenAt: seenAt(n),
      count: 1,
      reorganized: 0,
      data: transferOf(SEEN_FROM + n, strangerOf(n)),
    }),
    deliveries: (n) => ({
      transferId: n + 1,
      key: key(),
      count: 1,
      received: 1,
      seenAt: seenAt(n),
      lastAt: seenAt(n),
      run: 'sixteen-letters!',
      windowMs: n,
      inWindow: 1,
      projectId: '62caedf9e2719e72815d0703',
      addressType: 'wallet',
      direction: 'incoming',
    }),
  });
}

async function untilIdle(): Promise<void> {
  for (let isIdle = false; !isIdle; ) {
    const [before, readBefore] = [process.cpuUsage(), bytesRead()];
    await wait(1_000);
    const { user, system } = process.cpuUsage(before);
    isIdle = (user + system) / 1e6 <= IDLE.cores && bytesRead() - readBefore <= IDLE.bytes;
  }
}

const bytesRead = (): number => Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))![1]);

/** In microseconds per event; each one comes from a stranger and matches one subscription. */
async function route(store: Store, subscriptions: number): Promise<number> {
  const bodies = Array.from({ length: EVENTS }, () => {
    const n = sent++;
    return bodyOf(n, addressOf((n * 7_919) % subscriptions), strangerOf(n));
  });
  const place = { scope: 0, receivedAt: Date.now(), identity: null, run: 'bench' };
  await store.inbox.append(bodies.map((body, runMs) => ({ ...place, body: Buffer.from(body), runMs })));
  const done = Promise.withResolvers<void>();
  let left = EVENTS;
  const router = startRouter({
    store,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    networks: new Map([[0, { chainId: null, operatorProject: null, catalog: null, nativeSymbol: undefined }]]),
    outbox: { wake: () => undefined, rescan: async () => undefined },
    metrics: {
      routed: {
        inc(events) {
          left -= events;
          if (left === 0) done.resolve();
        },
      },
    },
    balances: null,
    receiver: { isBusy: () => false },
  });
  const began = performance.now();
  router.wake();
  await done.promise;
  const ms = performance.now() - began;
  await router.close();
  return (ms * 1_000) / EVENTS;
}
