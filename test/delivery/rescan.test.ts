import { expect, it, onTestFinished } from 'vitest';
import { StoreError } from '../../src/errors.ts';
import { startPipeline } from '../pipeline/harness.ts';

it('rescans once per second while the store fails, however often it was asked to', async () => {
  let rescans = 0;
  let isLocked = true;
  const { clock, deliverer, store, close } = await startPipeline({
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
  onTestFinished(close);
  // Also at the same time.
  await Promise.all([deliverer.rescan(), deliverer.rescan()]);
  await deliverer.rescan();
  expect(rescans).toBe(4);

  const second = async () => {
    clock.advance(1_000);
    // What it asked for before comes first.
    await store.outbox.endLongHolds(clock.now());
    await new Promise((resolve) => setImmediate(resolve));
  };
  await second();
  expect(rescans).toBe(5);
  isLocked = false;
  await second();
  await second();
  expect(rescans).toBe(6);
});
