import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { StoreError } from '../../../src/errors.ts';
import { temporaryFolder } from '../../folder.ts';
import { inTime, until } from '../../until.ts';
import { received } from '../contract/given.ts';
import { openStore } from './database-file.ts';

async function openHere() {
  const file = join(temporaryFolder(), 'bot.sqlite');
  const opened = await openStore(file);
  onTestFinished(opened.close);
  return { ...opened, file };
}

it('notices while it runs that Litestream has begun to copy the database, and leaves checkpoints to it', async () => {
  const { store, file } = await openHere();
  const litestream = new Database(file);
  onTestFinished(() => void litestream.close());
  litestream.exec('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)');
  const body = Buffer.alloc(2 ** 20);
  const logSize = () => statSync(`${file}-wal`).size;
  // Its own checkpoint, after 4 MiB, starts the log again.
  await until('the log exceeds 8 MiB', async () => {
    await store.inbox.append([received(body)]);
    return logSize() > 8 * 2 ** 20;
  });
  litestream.pragma('wal_checkpoint(PASSIVE)');
  const size = logSize();
  await store.inbox.append([received('{}')]);
  // What Litestream has not copied yet may be at the old end.
  expect(logSize()).toBe(size);
});

it('notices without a call that its file was removed', async () => {
  const { file, failed } = await openHere();
  renameSync(file, `${file}.away`);
  const error = await inTime('the removed file is noticed', failed);
  expect(error.message).toMatch(/bot\.sqlite was removed while the bot was running\. Put it back, or restore/);
});

it('rejects every call once the store is closed', async () => {
  const { store, close } = await openHere();
  await close();
  const closed = new StoreError('The database is closed.', 'LEDGERBELL_CLOSED');
  await expect(store.metrics.backlog(0)).rejects.toEqual(closed);
  await expect(store.inbox.next(1)).rejects.toEqual(closed);
});
