import { statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { SCHEMA_VERSION } from '../../../src/store/schema.ts';
import { insertAll } from '../../../src/store/sql.ts';
import { openDatabase, openReader, transactions } from '../../../src/store/sqlite/database.ts';
import { connectExisting } from '../../../src/store/sqlite/tools.ts';
import { temporaryFolder } from '../../folder.ts';
import { NOW, newBatch, received } from '../contract/given.ts';
import { storeOver } from './opened.ts';

let directory: string;
let file: string;
beforeEach(() => {
  directory = temporaryFolder();
  file = join(directory, 'test.sqlite');
});

const DELIVERY = received('{}');
const MEBIBYTE = received(Buffer.alloc(2 ** 20));

describe('the database file', () => {
  it('stores what only later ones of several rows have', async () => {
    const { db, close } = openDatabase(file);
    db.exec('CREATE TABLE shades (name TEXT, warmth INTEGER)');
    const rows = [{ name: 'red' }, { name: 'blue', warmth: 3 }];
    await transactions(db).run('write', (sql) => insertAll(sql, 'shades', rows));
    expect(db.prepare('SELECT warmth FROM shades ORDER BY name').pluck().all()).toEqual([3, null]);
    close();
  });

  it('waits for the disk with every commit: synchronous=FULL in WAL mode, after a write and a reopening', async () => {
    for (let opening = 1; opening <= 2; opening++) {
      const { db, close } = openDatabase(file);
      const { inbox } = storeOver(db);
      await inbox.append([DELIVERY]);
      expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
      expect(db.pragma('synchronous', { simple: true })).toBe(2);
      // A delivery waits no longer for another program's lock.
      expect(db.pragma('busy_timeout', { simple: true })).toBe(250);
      expect(await inbox.next(9)).toHaveLength(opening);
      close();
    }
  });

  it('waits for the disk again after an unsynced commit, however that ended', async () => {
    const { db, close } = openDatabase(file);
    const { run } = transactions(db);
    const level = () => db.pragma('synchronous', { simple: true });
    expect(await run('unsynced', async () => level())).toBe(1);
    expect(level()).toBe(2);
    const failing = run('unsynced', () => Promise.reject(new Error('disk full')));
    await expect(failing).rejects.toThrow('disk full');
    expect(level()).toBe(2);
    close();
  });

  it('waits for the disk with what must not be lost: a delivery before its 200, a message before its first byte', async () => {
    const { db, close } = openDatabase(file);
    const { inbox, outbox } = storeOver(db);
    db.exec('CREATE TEMP TABLE waits (for_what TEXT, level INTEGER)');
    for (const table of ['inbox', 'batches']) {
      db.exec(`CREATE TEMP TRIGGER ${table}_level AFTER INSERT ON main.${table}
               BEGIN INSERT INTO waits SELECT '${table}', synchronous FROM pragma_synchronous; END`);
    }
    await inbox.append([DELIVERY]);
    await outbox.freeze(newBatch([]), NOW);
    expect(db.prepare('SELECT for_what, level FROM waits').raw().all()).toEqual([
      ['inbox', 2],
      ['batches', 2],
    ]);
    close();
  });

  it('frees the disk space that the log needed during a long read', async () => {
    const { db, close } = openDatabase(file);
    const { inbox } = storeOver(db);
    const log = () => statSync(`${file}-wal`).size / 2 ** 20;
    const append = async (mebibytes: number) => {
      for (let n = 0; n < mebibytes; n++) await inbox.append([MEBIBYTE]);
    };
    const { db: reader, close: closeReader } = openReader(file);
    reader.exec('BEGIN; SELECT count(*) FROM inbox');
    await append(16);
    expect(log()).toBeGreaterThan(16);
    reader.exec('COMMIT');
    // The first of these checkpoints the log, the others start it again.
    await append(3);
    expect(log()).toBeLessThanOrEqual(8);
    closeReader();
    close();
  });

  it('holds the database’s lock under every name that it has', () => {
    openDatabase(file).close();
    const other = join(directory, 'other.sqlite');
    symlinkSync(file, other);
    const { close } = openDatabase(file);
    expect(() => openDatabase(other)).toThrow(/Another process is using .*other\.sqlite/);
    close();
    openDatabase(other).close();
  });

  it.each([
    [1, 'Use the newer version.'],
    [-1, 'Start the Ledgerbell of this version once.'],
  ])('explains to an operator’s tool what to do with a database whose schema is %i away', (away, todo) => {
    const other = new Database(file);
    other.pragma(`user_version = ${SCHEMA_VERSION + away}`);
    other.close();
    expect(() => connectExisting(file)).toThrow(todo);
  });
});
