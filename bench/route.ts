import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import pino from 'pino';
import { systemClock } from '../src/domain/clock.ts';
import { startRouter } from '../src/routing/router.ts';
import type { OpenStore } from '../src/store/open.ts';
import { addressOf, bodyOf, strangerOf } from './event.ts';
import { inTurns } from './table.ts';

const EVENTS = 5_000;
/**
 * At most this share of a core, and this many bytes read in a second. A thread of its own checks a large file after it was
 * opened, on a slow disk with hardly any processor time; no checkpoint runs meanwhile.
 */
const IDLE = { cores: 0.02, bytes: 1024 * 1024 };

/** Each event has a number that none had before. */
let sent = 0;

/** A database that was filled with this many subscriptions. */
type Filled = OpenStore & { subscriptions: number };

/**
 * Microseconds to route an event in each of these databases, run by run, in turns, once nothing else is going on; closes
 * them. A run before the first one warms them up. Calls the room `src/routing/` directly, without the rest of the bot.
 */
export async function routeInTurns(databases: readonly Filled[]): Promise<number[][]> {
  await untilIdle();
  for (const database of databases) await route(database);
  const times = await inTurns(databases.map((database) => () => route(database)));
  for (const { close } of databases) await close();
  return times;
}

async function untilIdle(): Promise<void> {
  for (let isIdle = false; !isIdle; ) {
    const [before, readBefore] = [process.cpuUsage(), bytesRead()];
    await wait(1_000);
    const { user, system } = process.cpuUsage(before);
    isIdle = (user + system) / 1e6 <= IDLE.cores && bytesRead() - readBefore <= IDLE.bytes;
  }
}

/** Bytes that this process has read from files and sockets. */
const bytesRead = (): number => Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))![1]);

/** Routes events once; each one comes from a stranger and matches one subscription. */
async function route({ store, subscriptions }: Filled): Promise<number> {
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
    count(events) {
      left -= events;
      if (left === 0) done.resolve();
    },
    receiver: { isBusy: () => false },
  });
  const began = performance.now();
  router.wake();
  await done.promise;
  const ms = performance.now() - began;
  await router.close();
  return (ms * 1_000) / EVENTS;
}
