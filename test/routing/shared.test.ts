import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { StoreError } from '../../src/errors.ts';
import { createAcks } from '../../src/receiver/acks.ts';
import { watchResponses } from '../../src/routing/responses.ts';
import { startRouter } from '../../src/routing/route.ts';
import { testLog } from '../app.ts';
import { payment, TREASURY } from '../pipeline/harness.ts';
import { NOW, subscribe } from '../store/contract/given.ts';
import { takeStore } from '../store/sqlite/reused.ts';
import { until } from '../until.ts';

/** The router of an inbox in which other processes store deliveries, over a real store whose commits can fail. */
async function start() {
  const taken = await takeStore();
  onTestFinished(taken.giveBack);
  const { store, close } = await taken.open();
  onTestFinished(close);
  const clock = createManualClock(NOW);
  const fault = { commit: 'none' as 'none' | 'refused' | 'response lost' };
  /** The deliveries of each commit that was tried. */
  const tried: number[][] = [];
  /** The channels that the router named, and `unnamed` for those that it did not know. */
  const reported: string[] = [];
  const router = startRouter({
    store: {
      ...store,
      routing: {
        ...store.routing,
        async commit(result) {
          tried.push(result.done);
          const edited = fault.commit === 'refused' ? [] : await store.routing.commit(result);
          if (fault.commit !== 'none') throw new StoreError('The database cannot be reached.', 'POSTGRES_UNREACHABLE');
          return edited;
        },
      },
    },
    responses: watchResponses(store, createAcks(), clock.now),
    now: clock.now,
    after: clock.after,
    log: testLog(),
    isShared: true,
    operatorProject: null,
    catalog: null,
    nativeSymbol: undefined,
    onRouted: () => undefined,
    onAlerts: (targets) => void reported.push(...targets.map(({ channelId }) => channelId)),
    onEdits: () => undefined,
    onUnnamed: () => void reported.push('unnamed'),
  });
  onTestFinished(router.close);
  const { channelId } = await subscribe(store, { address: TREASURY });
  return {
    store,
    router,
    fault,
    tried,
    reported,
    channelId,
    /** Another process stores a payment; returns its id. */
    async deliver() {
      const body = Buffer.from(JSON.stringify(payment()));
      const [id] = await store.inbox.append([{ scope: 0, receivedAt: clock.now(), body }]);
      return id!;
    },
    paused: () => until('the retry is planned', () => clock.untilNext() === 500),
    retry: () => clock.advance(500),
  };
}

it('reads the inbox again after the response to a commit was lost, and reports that alerts wait', async () => {
  const { router, fault, tried, reported, channelId, deliver, paused, retry } = await start();
  fault.commit = 'response lost';
  const first = await deliver();
  router.wake();
  await paused();
  fault.commit = 'none';
  const second = await deliver();
  expect(reported).toEqual([]);
  retry();
  await until('the second delivery is routed', () => reported.includes(channelId));
  expect([tried, reported]).toEqual([
    [[first], [second]],
    ['unnamed', channelId],
  ]);
});

it('reports only once that alerts wait after a commit whose response was lost, though nothing else arrives', async () => {
  const { router, fault, reported, deliver, paused, retry } = await start();
  fault.commit = 'response lost';
  await deliver();
  router.wake();
  await paused();
  fault.commit = 'none';
  retry();
  await until('the retry finds the inbox empty', () => reported.length > 0);
  router.wake();
  // Resolves once the inbox was read again.
  await router.close();
  expect(reported).toEqual(['unnamed']);
});

it('repeats a commit that was not stored, and names its channels once', async () => {
  const { store, router, fault, tried, reported, channelId, deliver, paused, retry } = await start();
  fault.commit = 'refused';
  const id = await deliver();
  router.wake();
  await paused();
  fault.commit = 'none';
  retry();
  await until('the delivery is routed', () => reported.length > 0);
  router.wake();
  // Resolves once the inbox was read again.
  await router.close();
  expect([tried, reported]).toEqual([[[id], [id]], [channelId]]);
  expect(await store.inbox.next(1)).toEqual([]);
});
