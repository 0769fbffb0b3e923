import { expect, it, onTestFinished } from 'vitest';
import { DAY } from '../../../src/domain/clock.ts';
import { NOW, OTHER_CHANNEL, post, pruneAll, send } from '../contract/given.ts';
import { readRows } from './database-file.ts';
import { takeStore } from './reused.ts';

it('deletes the rows of old messages whose alerts are deleted, and of no others', async () => {
  const { file, open, giveBack } = await takeStore();
  onTestFinished(giveBack);
  const { store, close } = await open();
  onTestFinished(close);
  const old = NOW - 2 * DAY;
  await post(store, [1], { now: old });
  await send(store, { reference: 'old' }, old);
  await post(store, [2], { now: old });
  await post(store, [3]);
  await send(store, { reference: 'of an old and a young alert' }, old);
  await post(store, [4], { now: old, channelId: OTHER_CHANNEL });
  await pruneAll(store, NOW - DAY);
  const messages = readRows<{ reference: string }>(file, 'SELECT reference FROM batches');
  expect(messages).toEqual([{ reference: 'of an old and a young alert' }]);
});
