import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { positionOf } from '../../../src/store/sql/cursors.ts';
import { channelStates } from '../../../src/store/sqlite/channels.ts';
import { type OpenDatabase, openDatabase } from '../../../src/store/sqlite/database.ts';
import { erasureReader, erasureTable } from '../../../src/store/sqlite/erasure.ts';
import { metricsTable } from '../../../src/store/sqlite/metrics.ts';
import { projectsTable } from '../../../src/store/sqlite/projects.ts';
import type { openTables } from '../../../src/store/sqlite/tables.ts';
import { put, putTransfer } from './opened.ts';

let dir: string;
let open: OpenDatabase;
let tables: { projects: ReturnType<typeof openTables>['projects']; erasure: ReturnType<typeof erasureTable> };
/** Every look at the clock finds a step's time over. */
let looks = 0;
function reopen(): void {
  open = openDatabase(join(dir, 'test.sqlite'));
  tables = { projects: projectsTable(open.db), erasure: erasureTable(open.db, () => 1_000 * looks++) };
}
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ledgerbell-erasure-'));
  reopen();
});
afterEach(() => {
  open.close();
  rmSync(dir, { recursive: true });
});

const stored = (guild: string) => metricsTable(open.db).stored(guild);
function finish(guild: string): void {
  let at = tables.erasure.step(guild);
  while (at) at = tables.erasure.step(guild, at);
}

/** A row wherever something about a server can be stored. */
function fill(guild: string, number: number): void {
  const { db } = open;
  const scope = tables.projects.save(
    { guildId: guild, projectId: `p${number}`, sealed: Buffer.from('x') },
    `token${number}`,
  );
  const channel = `c${number}`;
  const insert = (table: string, row: Record<string, string | number>) => {
    const keys = Object.keys(row);
    const sql = `INSERT INTO ${table} (${keys.join(', ')}) VALUES (${keys.map((key) => `@${key}`).join(', ')})`;
    return db.prepare(sql).run(row).lastInsertRowid as number;
  };
  const seen = { tx_hash: '0x', seen_at: 1, count: 1, data: '{}' };
  const own = insert('transfers', { ...seen, key: `own${number}`, scope });
  const shared = insert('transfers', { ...seen, key: `shared${number}`, scope: 0 });
  insert('deliveries', { key: `d${number}`, transfer_id: own, count: 1, unacknowledged: 0, received: 1, seen_at: 1 });
  insert('channels', { channel_id: channel, guild_id: guild });
  const batch = insert('batches', {
    channel_id: channel,
    kind: 'create',
    nonce: 'n',
    reference: 'r',
    payload: '{}',
    state: 'frozen',
    frozen_at: 1,
  });
  for (const [transfer_id, state] of [
    [own, 'frozen'],
    [shared, 'waiting'],
    [insert('transfers', { ...seen, key: `dead${number}`, scope }), 'dead'],
  ] as const) {
    const alert = { transfer_id, guild_id: guild, channel_id: channel, matches: '[]', created_at: 1, state };
    const id = insert('alerts', { ...alert, ...(state === 'frozen' && { batch_id: batch }) });
    if (state === 'dead') {
      insert('dead_letters', { kind: 'alert', alert_id: id, channel_id: channel, reason: 'x', at: 1 });
    }
  }
  putDecision(guild, channel, shared);
  for (const address of ['0xboth', `0xonly${number}`]) {
    insert('subscriptions', { guild_id: guild, channel_id: channel, address, created_by: 'ada', created_at: 1 });
    insert('counterparties', { guild_id: guild, address, outer_digits: '12345678', counterparty: '0xcc', seen_at: 1 });
  }
  insert('guilds', { guild_id: guild, language: 'de' });
  insert('confirmations', { guild_id: guild, user_id: 'ada', action: 'x', detail: '{}', asked_at: 1 });
  putAudit(guild);
  insert('webhook_names', { guild_id: guild, webhook_id: 'w', name: 'Main' });
  insert('labels', { guild_id: guild, address: '0x', name: 'Cold', created_by: 'ada', at: 1 });
  insert('token_mutes', { guild_id: guild, token: '0x', until: 1 });
  insert('heads', { scope, at: 1, block: 1 });
  insert('inbox', { scope, received_at: 1, body: 'x' });
  insert('quarantine', { scope, received_at: 1, reason: 'x', body: 'x' });
}

function putDecision(guild: string, channel: string, transfer: number): void {
  const decision = {
    guild_id: guild,
    channel_id: channel,
    subscription_id: 1,
    outcome: 'matched',
    address: '0x',
    at: 1,
  };
  put(open.db, 'decisions', { ...decision, transfer_id: transfer });
}
function putAudit(guild: string): void {
  put(open.db, 'audit', { guild_id: guild, user_id: 'ada', action: 'x', detail: '{}', at: 1 });
}

/** Every row of the database that has a server's or a scope's mark, by table. */
function dump(): Record<string, unknown[]> {
  const { db } = open;
  const names = db.prepare<[], { name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  return Object.fromEntries(names.map(({ name }) => [name, db.prepare(`SELECT * FROM ${name}`).all()]));
}

it('erases every row about one server, and no other', () => {
  fill('g2', 2);
  const others = dump();
  fill('g1', 1);
  channelStates(open.db).guildRemoved('g1', 1, 1);
  const marked = Object.entries(dump()).filter(([, rows]) => JSON.stringify(rows).includes('"guild_id":"g1"'));
  const withGuild = Object.keys(others).filter((name) =>
    (open.db.pragma(`table_info(${name})`) as { name: string }[]).some((column) => column.name === 'guild_id'),
  );
  expect(marked.map(([name]) => name)).toEqual(withGuild.filter((name) => name !== 'erasures'));
  expect(stored('g1')).toEqual({
    subscriptions: 2,
    labels: 1,
    tokenMutes: 1,
    project: true,
    webhookNames: 1,
    settings: true,
    waiting: 2,
    history: 2,
    audit: 1,
  });
  tables.erasure.begin('g1');
  finish('g1');
  const left = dump();
  // What came to the operator's URL is public, and other servers may still get alerts about it.
  left.transfers = left.transfers!.filter((row) => (row as { key: string }).key !== 'shared1');
  expect({ ...left, sqlite_sequence: [] }).toEqual({ ...others, sqlite_sequence: [] });
});

it('erases in steps between which others write, continues in the next process, and keeps what came later', () => {
  fill('g2', 2);
  fill('g1', 1);
  const more = (guild: string, channel: string, rows: number) => {
    for (let n = 0; n < rows; n++) {
      const alert = { guild_id: guild, channel_id: channel, matches: '[]', created_at: 1 };
      put(open.db, 'alerts', { ...alert, transfer_id: putTransfer(open.db, 1) });
    }
  };
  more('g1', 'c1', 300);
  more('g2', 'c2', 300);
  for (let n = 0; n < 120; n++) putAudit('g1');
  tables.erasure.begin('g1');
  expect(stored('g1')).toMatchObject({ subscriptions: 0, project: false, settings: false, waiting: 302 });
  expect(tables.erasure.step('g1')).not.toBeNull();
  const { waiting } = stored('g1');
  expect(waiting).toBeLessThan(302);
  expect(waiting).toBeGreaterThan(0);
  // The server is set up again when its last audit entries and decisions, which had the highest ids, are gone.
  let at = tables.erasure.step('g1');
  while (at && positionOf(at).part !== 'transfers') at = tables.erasure.step('g1', at);
  expect(stored('g1')).toMatchObject({ waiting: 0, history: 0, audit: 0 });
  more('g1', 'c1', 1);
  putDecision('g1', 'c1', putTransfer(open.db, 1));
  putAudit('g1');
  open.close();
  reopen();
  expect(erasureReader(open.db).begun()).toEqual(['g1']);
  finish('g1');
  expect(erasureReader(open.db).begun()).toEqual([]);
  expect(stored('g1')).toMatchObject({ waiting: 1, history: 1, audit: 1 });
  expect(stored('g2')).toMatchObject({ subscriptions: 2, waiting: 302, history: 2, audit: 1 });
  expect(open.db.prepare('SELECT channel_id FROM channels').pluck().all()).toEqual(['c1', 'c2']);
});
