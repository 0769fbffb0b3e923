import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../src/store/sqlite/client.ts';
import { openBeside } from '../../src/store/sqlite/database.ts';

/** A database whose reading thread ends as soon as nobody asks, and the threads that were started for it. */
async function openHere() {
  const directory = mkdtempSync(join(tmpdir(), 'client-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const threads: Worker[] = [];
  const note = (worker: Worker) => void threads.push(worker);
  process.on('worker', note);
  onTestFinished(() => void process.off('worker', note));
  const file = join(directory, 'bot.sqlite');
  const opened = await openStore(file, undefined, 0);
  onTestFinished(opened.close);
  return { ...opened, file, threads };
}

it('reads in a thread that comes with the question and goes when there is none', async () => {
  const { store, threads } = await openHere();
  expect(threads).toHaveLength(1);

  await Promise.all([store.tokens.known('1'), store.metrics.backlog(0)]);
  expect(threads).toHaveLength(2);
  await once(threads[1]!, 'exit');

  expect(await store.metrics.backlog(0)).toMatchObject({ frozen: 0 });
  expect(threads).toHaveLength(3);
});

it('opens nothing once it is closed', async () => {
  const { store, close, threads } = await openHere();
  await close();
  await expect(store.metrics.backlog(0)).rejects.toThrow('The database is closed.');
  expect(threads).toHaveLength(1);
});

it('what is done in steps is done to the end', async () => {
  const { store, file } = await openHere();
  const place = { guildId: 'g', channelId: 'c', createdBy: 'ada', createdAt: 1 };
  await store.subscriptions.add({ ...place, address: '0x1111111111111111111111111111111111111111' }, 1);
  const beside = openBeside(file);
  beside.exec(`
    INSERT INTO transfers (id, key, scope, tx_hash, seen_at, count, bodies, data) VALUES (1, x'01', 0, '0x1', 1, 1, 1, '{}');
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
    INSERT INTO decisions (transfer_id, guild_id, channel_id, subscription_id, outcome, at)
      SELECT 1, 'g', 'c', 1, 'matched', i FROM n`);
  beside.close();
  await store.rhythms.count();
  expect(await store.subscriptions.list('g')).toMatchObject([{ events: 2_500 }]);
});
