import { expect, it } from 'vitest';
import type { Watcher } from '../../src/domain/subscription.ts';
import { StoreError } from '../../src/errors.ts';
import type { Routing } from '../../src/store/store.ts';
import { ALERTS, type Pipeline, payment, startPipeline, TREASURY, WHALES } from '../pipeline/harness.ts';

const BOB = `0x${'b0'.repeat(20)}` as const;
const BAD = payment({ value: '2000000', from: TREASURY, to: BOB });

async function start(fail: (routing: Routing) => Partial<Routing>): Promise<Pipeline> {
  const pipeline = await startPipeline({ store: ({ routing }) => ({ routing: fail(routing) }) });
  await pipeline.watch(TREASURY, ALERTS);
  await pipeline.watch(BOB, WHALES);
  return pipeline;
}

async function receiveAmongOthers(pipeline: Pipeline): Promise<void> {
  await pipeline.storeTogether([payment({ value: '1000000' }), BAD, payment({ value: '3000000' })]);
  await pipeline.pay(4);
  await pipeline.untilShown(ALERTS, 3, 60);
  expect(pipeline.numbers(ALERTS).toSorted()).toEqual(['1', '3', '4']);
}

async function quarantined({ store }: Pipeline): Promise<{ reason: string; body: string }[]> {
  const rows = await Promise.all((await store.quarantine.list()).map(({ id }) => store.quarantine.get(id)));
  return rows.map((row) => ({ reason: row!.reason, body: Buffer.from(row!.body!).toString() }));
}

it('quarantines an event that the store refuses, with the reason, and posts the others', async () => {
  const pipeline = await start((real) => ({
    commit: async (result) => {
      if (result.transfers.some(({ transfer }) => transfer.txHash === BAD.txHash))
        throw new StoreError('poison', 'SQLITE_CONSTRAINT_TRIGGER');
      return real.commit(result);
    },
  }));
  await receiveAmongOthers(pipeline);
  expect(await quarantined(pipeline)).toEqual([{ reason: 'Routing failed: poison', body: JSON.stringify(BAD) }]);
});

it.each(['looked up', 'matched'])('quarantines an event that cannot be %s, and posts it at a replay', async (step) => {
  let broken = true;
  const pipeline = await start((real) => ({
    context: async (queries, now) => {
      const isBad = broken && queries.some(({ transfer }) => transfer.txHash === BAD.txHash);
      if (isBad && step === 'looked up') throw new StoreError('bad row', 'SQLITE_ERROR');
      const context = await real.context(queries, now);
      if (!isBad) return context;
      const unreadable = (watcher: Watcher): Watcher =>
        watcher.address === BOB ? { ...watcher, minimum: 'much' } : watcher;
      const watched = context.watched.map(({ watchers, ...rest }) => ({ ...rest, watchers: watchers.map(unreadable) }));
      return { ...context, watched };
    },
  }));
  await receiveAmongOthers(pipeline);
  expect((await quarantined(pipeline)).map(({ body }) => body)).toEqual([JSON.stringify(BAD)]);
  broken = false;
  const [kept] = await pipeline.store.quarantine.list();
  expect(await pipeline.store.quarantine.replay([kept!.id])).toBe(1);
  pipeline.app.internals.working().router.wake();
  await pipeline.pay(5);
  await pipeline.untilShown(ALERTS, 5, 60);
  expect(pipeline.numbers(ALERTS).toSorted()).toEqual(['1', '2', '3', '4', '5']);
  expect(pipeline.numbers(WHALES)).toEqual(['2']);
});
