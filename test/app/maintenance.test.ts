import { beforeEach, expect, it } from 'vitest';
import { seed } from '../../sandbox/discord/index.ts';
import { DAY, HOUR, MINUTE } from '../../src/domain/clock.ts';
import type { Cursor } from '../../src/store/store.ts';
import { noGateway, readLog } from '../app.ts';
import { HARBOR, openPipeline, type Pipeline, startPipeline } from '../pipeline/harness.ts';
import { GUILD, post, send, txHash } from '../store/contract/given.ts';
import { until } from '../until.ts';

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await startPipeline();
});

it('deletes transfers after 30 days', async () => {
  const { store, clock } = pipeline;
  const now = clock.now();
  for (const [n, seenAt] of [
    [1, now - 30 * DAY - HOUR],
    [2, now - 30 * DAY + 2 * HOUR],
  ] as const) {
    await post(store, [n], { now: seenAt });
    await send(store, {}, seenAt);
  }
  const left = async (n: number) => (await store.history.transfers(GUILD, txHash(n), null, now, 9)).total;
  await pipeline.pass(HOUR, MINUTE);
  await until('the older transfer is deleted', async () => (await left(1)) === 0);
  expect(await left(2)).toBe(1);
});

it('deletes entries of the audit log after a year', async () => {
  const { audit } = pipeline.store;
  const now = pipeline.clock.now();
  const entry = { guildId: HARBOR, userId: seed.ada, action: 'label.set', detail: {} };
  for (const days of [366, 364]) await audit.record({ ...entry, at: now - days * DAY });
  await pipeline.pass(HOUR, MINUTE);
  await until('the older entry is deleted', async () => (await audit.page(HARBOR, 0, 9)).total === 1);
  expect((await audit.page(HARBOR, 0, 9)).entries).toMatchObject([{ at: now - 364 * DAY }]);
});

it('deletes nothing after it was stopped during a deletion', async () => {
  const held = Promise.withResolvers<void>();
  const deletions: string[] = [];
  const { close, pass, clock } = await openPipeline({
    // The gateway closes after maintenance was stopped.
    connect: (options) => ({ ...noGateway(options), close: async () => held.resolve() }),
    store: ({ retention, audit, ...store }) => ({
      ...store,
      retention: {
        ...retention,
        async prune() {
          deletions.push('some transfers');
          await held.promise;
          // There are more.
          return {} as Cursor<'retention'>;
        },
        setPrunedBefore: async () => void deletions.push('all transfers'),
      },
      audit: { ...audit, prune: async () => deletions.push('audit entries') },
    }),
  });
  await pass(HOUR, MINUTE);
  await until('a deletion is under way', () => deletions.length > 0);
  await close();
  await new Promise((resolve) => setImmediate(resolve));
  // No timer is left that would delete again.
  expect([deletions, clock.untilNext()]).toEqual([['some transfers'], Number.POSITIVE_INFINITY]);
});

it('logs that an erasure failed, unless it was stopped', async () => {
  const logged: string[] = [];
  const failing = Promise.withResolvers<never>();
  const { close, restart } = await openPipeline({
    log: readLog('warn', (line) => void logged.push((JSON.parse(line) as { msg: string }).msg)),
    store: ({ erasure, ...store }) => ({ ...store, erasure: { ...erasure, begun: () => failing.promise } }),
  });
  // The first start waits for the database, too, but was stopped.
  await restart();
  failing.reject(new Error('The database is closed.'));
  await until('the failure is logged', () => logged.length > 0);
  await close();
  expect(logged).toEqual(['cannot finish erasing a server']);
});

it('deletes nothing after it was stopped between two deletions', async () => {
  const { close, clock } = await openPipeline();
  await close();
  expect(clock.untilNext()).toBe(Number.POSITIVE_INFINITY);
});
