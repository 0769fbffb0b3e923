import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { post, quarantine, subscribe } from '../contract/given.ts';
import { bodiesIn, lock, readRows } from './database-file.ts';
import { takeStore } from './reused.ts';

const tablesOf = (file: string) =>
  readRows<{ name: string }>(file, "SELECT name FROM sqlite_schema WHERE type = 'table'").map(({ name }) => name);

/** Every row of every table. */
const rowsOf = (file: string) =>
  tablesOf(file).flatMap((table) => readRows(file, `SELECT '${table}' AS "table", * FROM "${table}"`));

/** Takes a database, fills it, acts on it and gives it back; returns its file and what it began with. */
async function use(act: (file: string) => unknown = () => undefined) {
  const { file, open, giveBack } = await takeStore();
  const [rows, tables] = [rowsOf(file), tablesOf(file)];
  const { store, close } = await open();
  await subscribe(store);
  await quarantine(store, ['a body']);
  await post(store, [1, 2, 3]);
  await act(file);
  await close();
  giveBack();
  return { file, rows, tables };
}

it('empties a database for the next test, with its folder', async () => {
  const first = await use((file) => writeFileSync(join(dirname(file), 'secrets.key'), 'a key'));
  expect(bodiesIn(first.file)).toEqual(['a body']);
  const left: boolean[] = [];
  expect(await use((file) => left.push(existsSync(join(dirname(file), 'secrets.key'))))).toEqual(first);
  expect(left).toEqual([false]);
});

it('undoes what a test changes in the schema', async () => {
  const first = await use((file) => {
    const db = new Database(file);
    db.exec('CREATE TABLE more (a); DROP TABLE labels; PRAGMA user_version = 99');
    db.close();
  });
  expect(await use()).toEqual(first);
});

it('refuses calls after a lent store is closed, and completes those before', async () => {
  const { file, open, giveBack } = await takeStore();
  const { store, close } = await open();
  const subscribed = subscribe(store);
  await close();
  expect(await subscribed).toMatchObject({ guildId: '1000' });
  await expect(store.subscriptions.list('1000')).rejects.toThrow('The database is closed.');
  const again = await open();
  expect(await again.store.subscriptions.list('1000')).toHaveLength(1);
  await again.close();
  giveBack();
  expect((await use()).file).toBe(file);
});

it.each([
  ['removed', (file: string) => rmSync(file)],
  ['locked', (file: string) => onTestFinished(lock(file))],
])('uses no database again that is %s', async (_, spoil) => {
  const first = await use(spoil);
  const second = await use();
  expect(second.file).not.toBe(first.file);
  expect(second.rows).toEqual(first.rows);
});
