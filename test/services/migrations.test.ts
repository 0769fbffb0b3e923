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

it('keeps the order of the deliveries of a file from before `rank` had its name', () => {
  const delivery = (id: number, turn: number) => ({
    id,
    webhook_id: 'w',
    project_id: 'harbor',
    tx_hash: '0x1',
    block_number: 1,
    block_hash: '0xb',
    event_key: String(id),
    transfer_key: '',
    state: 'pending',
    body: '{}',
    turn,
    due_at: id,
  });
  writeVersion(3, [
    ['webhooks', { id: 'w', project_id: 'harbor', url: 'http://127.0.0.1:9', event_type: 'ALL' }],
    ['deliveries', delivery(1, 0)],
    ['deliveries', delivery(2, 0)],
    ['deliveries', delivery(3, 2)],
    ['deliveries', delivery(4, 1)],
  ]);
  const store = openStore(folder.dir);
  const order = [0, 1, 2, 3].map((skip) => store.deliveries.nextDue('w', 10, { skip })?.id);
  // By rank, then what fell due last.
  expect(order).toEqual([2, 1, 4, 3]);
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
