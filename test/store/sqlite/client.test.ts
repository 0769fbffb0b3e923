import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../../src/store/sqlite/client.ts';

async function openHere() {
  const directory = mkdtempSync(join(tmpdir(), 'client-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const opened = await openStore(join(directory, 'bot.sqlite'));
  onTestFinished(opened.close);
  return opened;
}

it('reads what was written as soon as the write has resolved', async () => {
  const { store } = await openHere();
  for (let n = 1; n <= 20; n++) {
    await store.inbox.append([{ scope: 0, receivedAt: n, body: Buffer.from('{}') }]);
    expect((await store.metrics.backlog(0)).inbox.waiting).toBe(n);
  }
});

it('rejects every call once it is closed', async () => {
  const { store, close } = await openHere();
  await close();
  await expect(store.metrics.backlog(0)).rejects.toThrow('The database is closed.');
  await expect(store.inbox.next(1)).rejects.toThrow('The database is closed.');
});
