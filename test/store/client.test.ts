import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../src/store/sqlite/client.ts';
import { openBeside } from '../../src/store/sqlite/database.ts';

async function openHere() {
  const directory = mkdtempSync(join(tmpdir(), 'client-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'bot.sqlite');
  const opened = await openStore(file);
  onTestFinished(opened.close);
  return { ...opened, file };
}

it('reads while another program keeps the writer waiting', async () => {
  const { store, file } = await openHere();
  const beside = openBeside(file);
  beside.exec('BEGIN IMMEDIATE');
  const append = store.inbox.append([{ scope: 0, receivedAt: 1, body: Buffer.from('{}') }]);
  const first = await Promise.race([append.then(() => 'write'), store.metrics.backlog(0).then(() => 'read')]);
  beside.exec('ROLLBACK');
  beside.close();
  expect(first).toBe('read');
  await append;
});

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
