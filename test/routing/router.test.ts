import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import type { RoutingResult } from '../../src/domain/routing.ts';
import { MIB } from '../../src/domain/units.ts';
import { StoreError } from '../../src/errors.ts';
import { startRouter } from '../../src/routing/router.ts';
import type { TokenCatalog } from '../../src/routing/token-catalog.ts';
import type { Store } from '../../src/store/store.ts';
import { testLog } from '../app.ts';
import { newDelivery } from '../new-delivery.ts';
import { ALICE, payment, TREASURY } from '../pipeline/harness.ts';
import { NOW, subscribe, txHash } from '../store/contract/given.ts';
import { storeForTest } from '../store/sqlite/reused.ts';
import { until } from '../until.ts';

/** The router over a real store whose reads and commits can fail. */
async function start() {
  const store = await storeForTest();
  const clock = createManualClock(NOW);
  const state = { isBusy: false, isLocked: false, bugs: 0, commit: 'works' as 'works' | 'refused' | 'response lost' };
  let reads = 0;
  const tried: RoutingResult[] = [];
  /** The channels that the router named (`all`: each with alerts), and `stored` for each commit. */
  const reported: string[] = [];
  const observed: Store = {
    ...store,
    routing: {
      async context(queries, now) {
        reads++;
        if (state.isLocked) throw new StoreError('database is locked', 'SQLITE_BUSY');
        if (state.bugs-- > 0) throw new Error('A bug.');
        return store.routing.context(queries, now);
      },
      async commit(result, after) {
        tried.push(result);
        const committed =
          state.commit === 'refused' ? { edited: [], next: [] } : await store.routing.commit(result, after);
        if (state.commit !== 'works') throw new StoreError('The database cannot be reached.', 'POSTGRES_UNREACHABLE');
        await store.inbox.next(0);
        reported.push('stored');
        return committed;
      },
    },
  };
  /** Since when the deliveries of each call to the explorer wait. */
  const waiting: number[] = [];
  const catalog: TokenCatalog = {
    async learn(_tokens, _known, since) {
      waiting.push(since);
      return [];
    },
    isPassedOver: () => false,
  };
  const router = startRouter({
    store: observed,
    receiver: { isBusy: () => state.isBusy },
    outbox: {
      wake: (targets) => void reported.push(...targets.map(({ channelId }) => channelId)),
      rescan: async () => void reported.push('all'),
    },
    clock,
    log: testLog(),
    networks: new Map([[0, { chainId: null, operatorProject: null, catalog, nativeSymbol: undefined }]]),
    metrics: { routed: { inc: () => undefined } },
    balances: null,
  });
  onTestFinished(router.close);
  return {
    store,
    router,
    state,
    clock,
    tried,
    reported,
    waiting,
    reads: () => reads,
    routed: () => tried.map(({ done }) => done),
    /** Another process stores payments in one commit; returns their ids. */
    deliver: (count = 1) =>
      store.inbox.append(
        Array.from({ length: count }, () => newDelivery(JSON.stringify(payment()), { receivedAt: clock.now() })),
      ),
    paused: () => until('the retry is planned', () => clock.untilNext() === 500),
    retry: () => clock.advance(500),
  };
}

describe('the router', () => {
  it('routes nothing while the receiver is busy, and everything once it is not', async () => {
    const { router, state, deliver, reads, routed } = await start();
    state.isBusy = true;
    const ids = await deliver(2);
    router.wake();
    for (let n = 0; n < 5; n++) await turn();
    expect(reads()).toBe(0);
    state.isBusy = false;
    await until('both are routed', () => routed().flat().length === 2);
    expect(routed()).toEqual([ids]);
  });

  it('wakes the delivery of alerts only when their commit has resolved', async () => {
    const { store, router, reported, deliver } = await start();
    const { channelId } = await subscribe(store, { address: TREASURY });
    await deliver(2);
    router.wake();
    await until('both are routed', () => reported.length === 3);
    expect(reported).toEqual(['stored', channelId, channelId]);
  });

  it.each([
    ['once its next deliveries are stored, not later', [0, 0, 0], ['stored', 'stored', '1001', 'stored']],
    ['at once if its next deliveries are another server’s', [0, 1, 1], ['stored', '1001', 'stored']],
  ])('wakes the alerts of a transaction %s', async (_when, scopes, order) => {
    const { store, router, reported } = await start();
    await subscribe(store, { address: TREASURY });
    // Each is too large for a commit with another one of its scope.
    const parts = [TREASURY, ALICE, ALICE].map((to) => payment({ to, txHash: txHash(1), more: 'x'.repeat(MIB) }));
    await store.inbox.append(parts.map((part, n) => newDelivery(JSON.stringify(part), { scope: scopes[n]! })));
    router.wake();
    await until('all are routed', () => reported.length === order.length);
    expect(reported).toEqual(order);
  });

  it('routes fewer events per commit when thousands of subscriptions match, and alerts every one', async () => {
    const { store, router, tried, reported, deliver, routed } = await start();
    const channels = Array.from({ length: 3_000 }, (_, n) => String(n + 1));
    const added = channels.map((channelId) => ({ channelId, address: TREASURY, change: {} }));
    const file = { guildId: '1', userId: '1', added, changed: [], labels: [], at: 0 };
    expect(await store.subscriptions.importAll(file, { subscriptions: 10_000, labels: 0 })).toBe('imported');
    const [first, second] = await deliver(2);
    router.wake();
    await until('both are routed', () => reported.filter((one) => one === 'stored').length === 2);
    expect(routed()).toEqual([[first], [second]]);
    expect(tried.map(({ alerts }) => new Set(alerts.map(({ channelId }) => channelId)).size)).toEqual([3_000, 3_000]);
  });

  it('routes what waits behind deliveries that could not be decided together', async () => {
    const { store, router, state, routed } = await start();
    state.bugs = 1;
    // Too large for one commit.
    const large = newDelivery(JSON.stringify(payment({ more: 'x'.repeat(MIB) })));
    const ids = await store.inbox.append([large, large]);
    router.wake();
    await until('both are routed', () => routed().length === 2);
    expect(routed()).toEqual(ids.map((id) => [id]));
  });

  it('counts the time that the first delivery of a commit has waited already against its look-ups', async () => {
    const { router, clock, deliver, routed, waiting } = await start();
    await deliver();
    clock.advance(700);
    await deliver();
    router.wake();
    await until('both are routed', () => routed().flat().length === 2);
    expect(waiting).toEqual([NOW]);
  });

  it('retries a failed read once after a pause, however often it is woken meanwhile', async () => {
    const { store, router, state, clock, deliver, reads, routed, paused, retry } = await start();
    state.isLocked = true;
    const ids: number[] = [];
    for (let time = 1; time <= 3; time++) {
      ids.push(...(await deliver()));
      const before = reads();
      router.wake();
      await until('the context is read', () => reads() > before);
    }
    await paused();
    for (let n = 0; n < 20; n++) await store.inbox.next(0);
    const before = reads();
    clock.advance(499);
    expect(clock.untilNext()).toBe(1);
    clock.advance(1);
    await paused();
    expect(reads()).toBe(before + 1);
    state.isLocked = false;
    retry();
    await until('all are routed', () => routed().flat().length === 3);
    expect([routed(), reads()]).toEqual([[ids], before + 2]);
  });
});

describe('a commit that failed', () => {
  it('is not repeated if it was stored', async () => {
    const { store, router, state, reported, deliver, routed, paused, retry } = await start();
    const { channelId } = await subscribe(store, { address: TREASURY });
    state.commit = 'response lost';
    const first = await deliver();
    router.wake();
    await paused();
    state.commit = 'works';
    const second = await deliver();
    expect(reported).toEqual([]);
    retry();
    await until('the second delivery is routed', () => reported.includes(channelId));
    expect([routed(), reported]).toEqual([
      [first, second],
      ['all', 'stored', channelId],
    ]);
  });

  it('is repeated if it was not stored', async () => {
    const { store, router, state, reported, deliver, routed, paused, retry } = await start();
    const { channelId } = await subscribe(store, { address: TREASURY });
    state.commit = 'refused';
    const [id] = await deliver();
    router.wake();
    await paused();
    state.commit = 'works';
    retry();
    await until('the delivery is routed', () => reported.includes(channelId));
    expect(routed()).toEqual([[id], [id]]);
    expect(await store.inbox.next(1)).toEqual([]);
  });
});
