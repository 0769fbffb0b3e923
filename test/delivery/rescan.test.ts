import { expect, it } from 'vitest';
import { StoreError } from '../../src/errors.ts';
import { startPipeline } from '../pipeline/harness.ts';

it('rescans again only once per second while the store fails, however often it was asked to', async () => {
  let rescans = 0;
  let isLocked = true;
  const { clock, deliverer, store } = await startPipeline({
    store: ({ outbox, ...others }) => ({
      ...others,
      outbox: {
        ...outbox,
        async channelsWithWork() {
          rescans++;
          if (isLocked) throw new StoreError('database is locked', 'SQLITE_BUSY');
          return outbox.channelsWithWork();
        },
      },
    }),
  });
  rescans = 0;
  await Promise.all([deliverer.rescan(), deliverer.rescan()]);
  await deliverer.rescan();
  expect(rescans).toBe(3);

  const second = async () => {
    clock.advance(1_000);
    // The store answers in order: then the rescan that the second began has its result.
    await store.outbox.endLongHolds(clock.now());
    await new Promise((resolve) => setImmediate(resolve));
  };
  await second();
  expect(rescans).toBe(4);
  isLocked = false;
  await second();
  await second();
  expect(rescans).toBe(5);
});
