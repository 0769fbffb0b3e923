import pino from 'pino';
import { startRouter } from '../src/routing/route.ts';
import type { OpenStore } from '../src/store/open-store.ts';
import { addressOf, bodyOf, strangerOf } from './event.ts';

/** Discarded in each run: a store that was just opened reads more than a warm one. */
const EVENTS = 5_000;

let sent = 0;

/** The number of an event that none had before. */
export const nextEvent = (): number => sent++;

/** Microseconds to route an event, when each comes from a stranger and matches one of this many subscriptions; closes the store. */
export async function route({ store, close }: OpenStore, subscriptions: number): Promise<number> {
  const bodies = Array.from({ length: EVENTS }, () => {
    const n = nextEvent();
    return bodyOf(n, addressOf((n * 7_919) % subscriptions), strangerOf(n));
  });
  await store.inbox.append(bodies.map((body) => ({ scope: 0, receivedAt: Date.now(), body: Buffer.from(body) })));
  const done = Promise.withResolvers<void>();
  let left = EVENTS;
  const router = startRouter({
    store,
    now: Date.now,
    log: pino({ level: 'silent' }),
    ackedAt: () => null,
    operatorProject: null,
    catalog: null,
    nativeSymbol: undefined,
    onAlerts: () => undefined,
    onRouted({ ids }) {
      left -= ids.length;
      if (left === 0) done.resolve();
    },
  });
  const began = performance.now();
  router.wake();
  await done.promise;
  const ms = performance.now() - began;
  await router.close();
  await close();
  return (ms * 1_000) / EVENTS;
}
