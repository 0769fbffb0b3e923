import type { Database } from 'better-sqlite3';
import { expect, it } from 'vitest';
import { DAY } from '../../../src/domain/clock.ts';
import { NOW, OTHER_CHANNEL, post, pruneAll, send } from '../contract/given.ts';
import { openHere, storeOver } from './opened.ts';

type Value = string | number | Buffer;

/** The default value of a column, by its type. */
const FILLING: Record<string, Value> = { TEXT: 'x', BIGINT: 1, SMALLINT: 0, BLOB: Buffer.from('x'), INTEGER: 1 };

/** Inserts a row, with something in each column that must not be null; returns its id. */
function put(db: Database, table: string, row: Record<string, Value>): number {
  const columns = db.pragma(`table_info(${table})`) as { name: string; type: string; notnull: 0 | 1; pk: number }[];
  const missing = columns.filter(({ name, notnull }) => notnull === 1 && !(name in row));
  const filled = { ...Object.fromEntries(missing.map(({ name, type }) => [name, FILLING[type]!])), ...row };
  const names = Object.keys(filled);
  const statement = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `@${name}`).join(', ')})`;
  return Number(db.prepare(statement).run(filled).lastInsertRowid);
}

function fill(db: Database, guild: string, number: number): void {
  const of = (row: Record<string, Value> = {}) => ({ guild_id: guild, ...row });
  const channel = `c${number}`;
  const scope = put(db, 'projects', of());
  put(db, 'receiver_tokens', { token: `token${number}`, scope });
  for (const table of ['heads', 'inbox', 'quarantine', 'scope_usage']) put(db, table, { scope });
  const seen = (name: string, of_scope: number) =>
    put(db, 'transfers', { key: name, tx_hash: `0x${name}`, scope: of_scope, data: '{}' });
  const [own, dead, shared] = [seen(`own${number}`, scope), seen(`dead${number}`, scope), seen(`shared${number}`, 0)];
  put(db, 'deliveries', { transfer_id: own });
  put(db, 'decisions', of({ transfer_id: shared, channel_id: channel }));
  put(db, 'channels', of({ channel_id: channel, state: 'ready' }));
  const batch = put(db, 'batches', { channel_id: channel, state: 'frozen', reference: `r${number}` });
  const alert = (transfer_id: number, state: string, rest: Record<string, Value> = {}) =>
    put(db, 'alerts', of({ transfer_id, channel_id: channel, state, ...rest }));
  alert(own, 'frozen', { batch_id: batch });
  alert(shared, 'waiting');
  put(db, 'dead_letters', { alert_id: alert(dead, 'dead'), channel_id: channel });
  for (const address of ['0xboth', `0xonly${number}`]) {
    const subscription = put(db, 'subscriptions', of({ channel_id: channel, address }));
    put(db, 'activity_stats', { subscription_id: subscription });
    put(db, 'counterparties', of({ address }));
  }
  for (const table of [
    'guilds',
    'confirmations',
    'audit',
    'webhook_names',
    'chosen_webhooks',
    'labels',
    'token_mutes',
    'guild_removals',
    'statements',
  ])
    put(db, table, of());
}

function dump(db: Database): Record<string, object[]> {
  const names = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  return Object.fromEntries(names.map((name) => [name, db.prepare<[], object>(`SELECT * FROM ${name}`).all()]));
}

it('erases every row about one server, and no other', async () => {
  const db = openHere();
  const { erasure } = storeOver(db);
  fill(db, 'g2', 2);
  const others = dump(db);
  fill(db, 'g1', 1);

  const withMark = Object.entries(dump(db)).filter(([, rows]) => JSON.stringify(rows).includes('"guild_id":"g1"'));
  const withGuild = Object.keys(others).filter((name) =>
    (db.pragma(`table_info(${name})`) as { name: string }[]).some((column) => column.name === 'guild_id'),
  );
  expect(withMark.map(([name]) => name)).toEqual(
    withGuild.filter((name) => !['erasures', 'erased_scopes'].includes(name)),
  );

  await erasure.begin('g1');
  while (await erasure.step('g1'));
  const left = dump(db);
  // Deliveries to the operator's URL are public, and other servers may still get alerts about them.
  left.transfers = left.transfers!.filter((row) => (row as { key: string }).key !== 'shared1');
  expect({ ...left, sqlite_sequence: [] }).toEqual({ ...others, sqlite_sequence: [] });
});

it('deletes the rows of old messages whose alerts are deleted, and of no others', async () => {
  const db = openHere();
  const store = storeOver(db);
  const old = NOW - 2 * DAY;
  await post(store, [1], { now: old });
  await send(store, { reference: 'old' }, old);
  await post(store, [2], { now: old });
  await post(store, [3]);
  await send(store, { reference: 'of an old and a young alert' }, old);
  await post(store, [4], { now: old, channelId: OTHER_CHANNEL });
  await pruneAll(store, NOW - DAY);
  const messages = db.prepare('SELECT reference FROM batches').pluck().all();
  expect(messages).toEqual(['of an old and a young alert']);
});
