import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../src/store/sqlite/client.ts';

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
