import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { type DelivererOptions, startDeliverer } from '../../src/delivery/deliver.ts';
import { StoreError } from '../../src/errors.ts';
import { openStore } from '../../src/store/sqlite/client.ts';

it('rescans once per second while the store fails, however often it was asked to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'look-'));
  const { store, close } = await openStore(join(folder, 'test.sqlite'));
  const clock = createManualClock();
  let rescans = 0;
  let isLocked = true;
  const outbox = {
    endLongHolds: store.outbox.endLongHolds,
    async channelsWithWork() {
      rescans++;
      if (isLocked) throw new StoreError('database is locked', 'SQLITE_BUSY');
      return store.outbox.channelsWithWork();
    },
  };
  const parts = { store: { outbox }, clock, log: pino({ level: 'silent' }) };
  const deliverer = startDeliverer(parts as unknown as DelivererOptions);
  await deliverer.loaded;
  // Also at the same time.
  await Promise.all([deliverer.rescan(), deliverer.rescan()]);
  await deliverer.rescan();
  expect(rescans).toBe(4);

  const second = async () => {
    clock.advance(1_000);
    // What it asked for before comes first.
    await store.outbox.channelsWithWork();
    await new Promise((resolve) => setImmediate(resolve));
  };
  await second();
  expect(rescans).toBe(5);
  isLocked = false;
  await second();
  await second();
  expect(rescans).toBe(6);
  await deliverer.close();
  await close();
  rmSync(folder, { recursive: true });
});
