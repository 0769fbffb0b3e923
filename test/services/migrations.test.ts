import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { openDatabase } from '../../services/notification/store/database.ts';
import { openStore } from '../../services/notification/store/index.ts';
import { MIGRATIONS } from '../../services/notification/store/schema.ts';
import { temporaryFolder } from '../folder.ts';
import { newDelivery, WEBHOOK } from './new-delivery.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 'notification.sqlite');
});

it('migrates a file after it made a copy, and refuses the file of a newer version', () => {
  const copy = `${file}.before-${MIGRATIONS.length + 1}`;
  openStore(folder).close();
  expect(existsSync(copy)).toBe(false);
  const next = [...MIGRATIONS, 'CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT'];
  const db = openDatabase(folder, next);
  expect(db.prepare('SELECT count(*) FROM later').pluck().get()).toBe(0);
  db.close();
  expect((statSync(copy).mode & 0o777).toString(8)).toBe('600');
  expect(() => openStore(folder)).toThrow('was written by a newer version of the services');
});

it('gives the pages of deleted deliveries back to the disk', () => {
  const store = openStore(folder);
  const { id } = store.webhooks.create(WEBHOOK);
  const body = 'x'.repeat(10_000);
  store.deliveries.keep(Array.from({ length: 100 }, (_, at) => newDelivery(id, String(at), { body })));
  store.close();
  const full = statSync(file).size;
  const again = openStore(folder);
  again.webhooks.delete(id);
  again.shrink();
  again.close();
  expect(statSync(file).size).toBeLessThan(full / 4);
});
