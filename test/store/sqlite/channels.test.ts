import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { openTables } from '../../../src/store/sqlite/tables.ts';

function openHere() {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerbell-channels-'));
  const { db, close } = openDatabase(join(dir, 'test.sqlite'));
  onTestFinished(() => {
    close();
    rmSync(dir, { recursive: true });
  });
  return { db, ...openTables(db) };
}

it('restores the channels of a server that has the bot again, except those that were gone on their own', () => {
  const { db, channels } = openHere();
  for (const [channelId, guildId] of [
    ['gone', 'g'],
    ['closed', 'g'],
    ['open', 'g'],
    ['other', 'h'],
  ] as const)
    channels.postNotice({
      guildId,
      channelId,
      reference: 'r',
      nonce: 'n',
      payload: '{}',
      now: 1,
      aboutChannelId: null,
    });
  const all = () =>
    db.prepare('SELECT channel_id, state, due_at, attempts, since, reason FROM channels ORDER BY 1').raw().all();
  const gone = { channelId: 'gone', state: 'unreachable', dueAt: 90, attempts: 3, since: 1, reason: '10003' } as const;
  channels.setState(gone);
  channels.setState({ ...gone, channelId: 'closed', state: 'parked', reason: '50001' });
  channels.guildRemoved('g', 5, 95);
  const removed = ['unreachable', 95, 0, 5, 'channel or server is gone'];
  expect(all()).toEqual([
    ['closed', ...removed],
    ['gone', 'unreachable', 90, 3, 1, '10003'],
    ['open', ...removed],
    ['other', 'ready', 0, 0, null, null],
  ]);
  channels.setState({ ...gone, channelId: 'other', reason: 'channel or server is gone' });
  channels.guildReturned('g');
  channels.guildReturned('h');
  expect(all()).toEqual([
    ['closed', 'ready', 0, 0, null, null],
    ['gone', 'unreachable', 90, 3, 1, '10003'],
    ['open', 'ready', 0, 0, null, null],
    ['other', 'unreachable', 90, 3, 1, 'channel or server is gone'],
  ]);
  expect(channels.blocked('g')).toEqual([{ channelId: 'gone', state: 'unreachable', reason: '10003' }]);
});

it('reports with a session which servers removed the bot, within each connection’s share', () => {
  const { db, channels, erasure, guilds } = openHere();
  const removed = () => db.prepare('SELECT guild_id, removed_at FROM guild_removals').raw().all();
  // The servers that Discord reports to the first and to the second of two connections.
  const [even, odd, other] = [String(2n << 22n), String(3n << 22n), String(4n << 22n)];
  for (const guildId of [even, odd, other]) guilds.changeSettings(guildId, { language: 'de' });
  expect(channels.syncGuilds(new Set([other]), [0, 2], 50)).toEqual({ gone: [even], back: [] });
  expect(channels.syncGuilds(new Set(), [1, 2], 60)).toEqual({ gone: [odd], back: [] });
  // A repeated report is about the same removal, unless the clock was ahead before.
  expect(channels.syncGuilds(new Set([other]), [0, 1], 70)).toEqual({ gone: [odd, even], back: [] });
  channels.guildRemoved(odd, 40, 41);
  expect(removed()).toEqual([
    [odd, 40],
    [even, 50],
  ]);
  expect([erasure.removed(50), erasure.removed(51)]).toEqual([[odd], [odd, even]]);
  // Commands can be used where the bot is not a member.
  channels.postponeErasure(even, 80);
  channels.postponeErasure(other, 80);
  expect(erasure.removed(81)).toEqual([odd, even]);
  expect(erasure.removed(80)).toEqual([odd]);
  expect(channels.syncGuilds(new Set([odd, other]), [0, 1], 90)).toEqual({ gone: [even], back: [odd] });
  channels.guildReturned(even);
  expect(removed()).toEqual([]);
});

it('reports with a session every removed server with any stored data', () => {
  const { db, channels } = openHere();
  const traces = {
    guilds: "(guild_id) VALUES ('guilds')",
    subscriptions: `(guild_id, channel_id, address, created_by, created_at)
      VALUES ('here', 'c', 'a', 'u', 1), ('subscriptions', 'd', 'a', 'u', 1), ('subscriptions', 'd', 'b', 'u', 1)`,
    labels: "(guild_id, address, name, created_by, at) VALUES ('labels', 'a', 'n', 'u', 1), ('here', 'a', 'n', 'u', 1)",
    projects: "(guild_id, project_id, sealed, updated_by, updated_at) VALUES ('projects', 'p', x'00', 'u', 1)",
    channels: "(channel_id, guild_id) VALUES ('c', 'here'), ('e', 'channels')",
    audit: `(guild_id, user_id, action, detail, at)
      VALUES ('audit', 'u', 'x', '{}', 1), ('audit', 'u', 'x', '{}', 2), ('here', 'u', 'x', '{}', 1)`,
    confirmations: "(guild_id, user_id, action, detail, asked_at) VALUES ('confirmations', 'u', 'x', '{}', 1)",
  };
  expect(channels.syncGuilds(new Set(), [0, 1], 5)).toEqual({ gone: [], back: [] });
  for (const [table, row] of Object.entries(traces)) db.exec(`INSERT INTO ${table} ${row}`);
  const { gone } = channels.syncGuilds(new Set(['here']), [0, 1], 5);
  expect(gone.toSorted()).toEqual(Object.keys(traces).toSorted());
});
