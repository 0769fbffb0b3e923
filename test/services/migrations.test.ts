import { statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openStore } from '../../services/notification/store/index.ts';
import { MIGRATIONS } from '../../services/notification/store/migrations.ts';
import { temporaryFolder } from './harness.ts';
import { newDelivery, WEBHOOK } from './new-delivery.ts';

/** The services' file as earlier versions left it. */

let folder: ReturnType<typeof temporaryFolder>;
let file: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.dir, 'notification.sqlite');
});
afterEach(() => folder.remove());

/** Writes the file as the version with this many migrations did, with some rows. */
function writeVersion(
  version: number,
  rows: readonly [table: string, row: Record<string, string | number>][] = [],
): void {
  const db = new Database(file);
  db.exec(MIGRATIONS.slice(0, version).join('\n'));
  for (const [table, row] of rows) {
    const columns = Object.keys(row);
    const values = columns.map((name) => `:${name}`);
    db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`).run(row);
  }
  db.pragma(`user_version = ${version}`);
  db.close();
}

it('keeps the place in the chain of a file from before `newest_time` had its name', () => {
  const chain = { one: 1, chain_id: '1', genesis: '0x1', next_block: 7, told_time: 1_800_000_000 };
  writeVersion(2, [['chain', chain]]);
  const store = openStore(folder.dir);
  expect(store.chain.state()).toEqual({ chainId: '1', genesis: '0x1', nextBlock: 7, newestTime: 1_800_000_000 });
  store.close();
});

const OLD_WEBHOOK = { id: 'w', project_id: 'harbor', url: 'http://127.0.0.1:9', event_type: 'ALL' };
const oldDelivery = (id: number, more: Record<string, string | number>) => ({
  id,
  webhook_id: OLD_WEBHOOK.id,
  project_id: 'harbor',
  tx_hash: '0x1',
  block_number: 1,
  block_hash: '0xb',
  event_key: String(id),
  transfer_key: '',
  state: 'pending',
  body: '{}',
  due_at: id,
  ...more,
});

it('keeps the order of the deliveries of a file from before `rank` had its name', () => {
  writeVersion(3, [
    ['webhooks', OLD_WEBHOOK],
    ['deliveries', oldDelivery(1, { turn: 0 })],
    ['deliveries', oldDelivery(2, { turn: 0 })],
    ['deliveries', oldDelivery(3, { turn: 2 })],
    ['deliveries', oldDelivery(4, { turn: 1 })],
  ]);
  const store = openStore(folder.dir);
  const order = [0, 1, 2, 3].map((skip) => store.deliveries.nextDue(OLD_WEBHOOK.id, 10, { skip })?.id);
  // By rank, then what fell due last.
  expect(order).toEqual([2, 1, 4, 3]);
  store.close();
});

it('keeps what the deliveries wait for in a file from before `confirm_tag`', () => {
  writeVersion(4, [
    ['webhooks', OLD_WEBHOOK],
    ['deliveries', oldDelivery(1, { state: 'waiting', confirm_at: -1 })],
    ['deliveries', oldDelivery(2, { state: 'waiting', confirm_at: -2 })],
    ['deliveries', oldDelivery(3, { state: 'waiting', confirm_at: 7 })],
  ]);
  const store = openStore(folder.dir);
  const { deliveries } = store;
  const due = () => [0, 1, 2].map((skip) => deliveries.nextDue(OLD_WEBHOOK.id, 10, { skip })?.id);
  expect([deliveries.waitsFor('safe'), deliveries.waitsFor('finalized')]).toEqual([true, true]);
  deliveries.release({ head: 6, safe: 1, finalized: 0 }, 0);
  expect(due()).toEqual([1, undefined, undefined]);
  deliveries.release({ head: 6, safe: 1, finalized: 1 }, 0);
  expect(due()).toEqual([2, 1, undefined]);
  deliveries.release({ head: 7, safe: null, finalized: null }, 0);
  expect(due()).toEqual([3, 2, 1]);
  expect([deliveries.waitsFor('safe'), deliveries.waitsFor('finalized')]).toEqual([false, false]);
  store.close();
});

it('gives the pages of deleted deliveries back to the disk, also in a file of the first version', () => {
  writeVersion(1);
  let store = openStore(folder.dir);
  const { id } = store.webhooks.create(WEBHOOK);
  const body = 'x'.repeat(1_000);
  store.deliveries.keep(Array.from({ length: 2_000 }, (_, at) => newDelivery(id, String(at), { body })));
  store.close();
  const full = statSync(file).size;
  store = openStore(folder.dir);
  store.webhooks.delete(id);
  store.shrink();
  store.close();
  expect(statSync(file).size).toBeLessThan(full / 4);
});
