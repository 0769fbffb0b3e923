import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { openTables } from '../../src/store/tables.ts';

it('a server that removed the bot and has it again finds its channels as before, but those that were gone on their own', () => {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerbell-channels-'));
  const { db, close } = openDatabase(join(dir, 'test.sqlite'));
  onTestFinished(() => {
    close();
    rmSync(dir, { recursive: true });
  });
  const { outbox } = openTables(db);
  for (const [channelId, guildId] of [
    ['gone', 'g'],
    ['closed', 'g'],
    ['open', 'g'],
    ['other', 'h'],
  ] as const)
    outbox.notice({ guildId, channelId, title: '', text: '', now: 1 });
  const all = () =>
    db.prepare('SELECT channel_id, state, due_at, attempts, since, reason FROM channels ORDER BY 1').raw().all();
  const gone = { channelId: 'gone', state: 'paused', dueAt: 90, attempts: 3, since: 1, reason: '10003' } as const;
  outbox.setChannel(gone);
  outbox.setChannel({ ...gone, channelId: 'closed', state: 'parked', reason: '50001' });
  outbox.pauseGuild('g', 5, 95);
  const removed = ['paused', 95, 0, 5, 'channel or server is gone'];
  expect(all()).toEqual([
    ['closed', ...removed],
    ['gone', 'paused', 90, 3, 1, '10003'],
    ['open', ...removed],
    ['other', 'ready', 0, 0, null, null],
  ]);
  outbox.setChannel({ ...gone, channelId: 'other', reason: 'channel or server is gone' });
  outbox.resumeGuild('g');
  expect(all()).toEqual([
    ['closed', 'ready', 0, 0, null, null],
    ['gone', 'paused', 90, 3, 1, '10003'],
    ['open', 'ready', 0, 0, null, null],
    ['other', 'paused', 90, 3, 1, 'channel or server is gone'],
  ]);
  expect(outbox.troubled('g')).toEqual([{ channelId: 'gone', state: 'paused', reason: '10003' }]);
});
