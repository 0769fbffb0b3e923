import { expect, it } from 'vitest';
import { StoreError } from '../../src/errors.ts';
import { startPipeline } from '../pipeline/harness.ts';

it('looks for alerts once more a second after the store failed, however often it was asked to', async () => {
  let looks = 0;
  let isLocked = false;
  const { clock, deliverer, store } = await startPipeline({
    store: ({ outbox, ...others }) => ({
      ...others,
      outbox: {
        ...outbox,
        async channelsWithWork() {
          looks++;
          if (isLocked) throw new StoreError('database is locked', 'SQLITE_BUSY');
          return outbox.channelsWithWork();
        },
      },
    }),
  });
  [looks, isLocked] = [0, true];
  await Promise.all([deliverer.rescan(), deliverer.rescan()]);
  isLocked = false;
  for (let second = 1; second <= 2; second++) {
    clock.advance(1_000);
    // The store answers in order: then the look that the second began has its result.
    await store.outbox.endLongHolds(clock.now());
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(looks).toBe(3);
});
