import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { MIGRATIONS, SCHEMA_VERSION } from '../../../src/store/schema.ts';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { temporaryFolder } from '../../folder.ts';
import { address, subscribe } from '../contract/given.ts';
import { readRows } from './database-file.ts';
import { storeOver } from './opened.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 'bot.sqlite');
});

/** Two steps that a later version may have. */
const NEXT = [() => 'ALTER TABLE subscriptions ADD COLUMN note TEXT', () => "UPDATE subscriptions SET note = 'kept'"];

const copyOf = (steps: number): string => `${file}.before-schema-${SCHEMA_VERSION + steps}`;
const versionOf = (path: string): number =>
  readRows<{ user_version: number }>(path, 'PRAGMA user_version')[0]!.user_version;
const notes = (): unknown[] =>
  readRows<{ note: unknown }>(file, 'SELECT note FROM subscriptions').map(({ note }) => note);
const subscriptions = (path: string): number => readRows(path, 'SELECT id FROM subscriptions').length;

function update(...steps: (() => string)[]): string[] {
  const reports: string[] = [];
  openDatabase(file, (_details, message) => reports.push(message), [...MIGRATIONS, ...steps]).close();
  return reports;
}

async function addSubscription(n: number): Promise<void> {
  const { db, close } = openDatabase(file);
  await subscribe(storeOver(db), { address: address(n) });
  close();
}

it('copies the database first, then runs each new step once and keeps the rows', async () => {
  await addSubscription(1);
  expect(update()).toEqual([]);
  const step = 'migration: step begun';
  expect(update(...NEXT)).toEqual(['migration: copying the database first', step, step, 'migration: done']);
  expect([versionOf(file), notes()]).toEqual([SCHEMA_VERSION + 2, ['kept']]);
  expect([versionOf(copyOf(2)), subscriptions(copyOf(2))]).toEqual([SCHEMA_VERSION, 1]);
  // A second run of the first step would fail.
  expect(update(...NEXT)).toEqual([]);
});

it('makes the tables of a new database without a copy', () => {
  expect(update(...NEXT)).toEqual([]);
  expect(versionOf(file)).toBe(SCHEMA_VERSION + 2);
  expect(readdirSync(folder).filter((name) => name.includes('before-schema'))).toEqual([]);
});

it('undoes a step that fails, keeps those before it, and goes on with it at the next start', async () => {
  await addSubscription(1);
  const failing = () => "UPDATE subscriptions SET note = 'half'; UPDATE nothing SET a = 1";
  expect(() => update(NEXT[0]!, failing)).toThrow('nothing');
  expect([versionOf(file), notes()]).toEqual([SCHEMA_VERSION + 1, [null]]);
  // The copy is still that from before the first step.
  update(...NEXT);
  expect([versionOf(copyOf(2)), notes()]).toEqual([SCHEMA_VERSION, ['kept']]);
});

it('makes a new copy when the update before was rolled back, so that it has what was written since', async () => {
  await addSubscription(1);
  update(...NEXT);
  for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
  renameSync(copyOf(2), file);
  await addSubscription(2);
  update(...NEXT);
  expect([subscriptions(file), subscriptions(copyOf(2))]).toEqual([2, 2]);
  expect(existsSync(`${copyOf(2)}.partial`), 'whether half a copy is left').toBe(false);
});

it('keeps rows that refer to those of a table that a step rebuilds', async () => {
  await addSubscription(1);
  const { db, close } = openDatabase(file);
  db.exec('INSERT INTO activity_stats (subscription_id, events, last_event_at) SELECT id, 1, 1 FROM subscriptions');
  close();
  update(
    () => `CREATE TABLE rebuilt AS SELECT * FROM subscriptions; DROP TABLE subscriptions;
      ALTER TABLE rebuilt RENAME TO subscriptions`,
  );
  expect(readRows(file, 'SELECT subscription_id FROM activity_stats')).toHaveLength(1);
});
