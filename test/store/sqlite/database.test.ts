import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setCheckpoints } from '../../../src/store/sqlite/checkpoints.ts';
import {
  connectExisting,
  openDatabase,
  openReader,
  runDeletionStep,
  unsynced,
} from '../../../src/store/sqlite/database.ts';
import { inboxTable } from '../../../src/store/sqlite/inbox.ts';
import { MIGRATIONS } from '../../../src/store/sqlite/migrations.ts';
import { outboxTable } from '../../../src/store/sqlite/outbox.ts';
import { inTime } from '../../until.ts';

let directory: string;
let file: string;
let holder: ChildProcess | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'database-'));
  file = join(directory, 'test.sqlite');
});
afterEach(() => {
  holder?.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

const BODY = Buffer.from('{}');

describe('the database file', () => {
  it('waits for the disk with every commit: synchronous=FULL in WAL mode, after a write and a reopening', () => {
    for (let opening = 1; opening <= 2; opening++) {
      const { db, close } = openDatabase(file);
      inboxTable(db).append([{ scope: 0, receivedAt: 1, body: BODY }]);
      expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
      expect(db.pragma('synchronous', { simple: true })).toBe(2);
      // A delivery waits no longer for another program's lock.
      expect(db.pragma('busy_timeout', { simple: true })).toBe(250);
      expect(inboxTable(db).next(9)).toHaveLength(opening);
      close();
    }
  });

  it('waits for the disk again after an unsynced commit, however that ended', () => {
    const { db, close } = openDatabase(file);
    const level = () => db.pragma('synchronous', { simple: true });
    expect(unsynced(db, level)).toBe(1);
    expect(level()).toBe(2);
    const fail = () => {
      throw new Error('disk full');
    };
    expect(() => unsynced(db, fail)).toThrow('disk full');
    expect(level()).toBe(2);
    close();
  });

  it('waits for the disk with what must not be lost: a delivery before its 200, a message before its first byte', () => {
    const { db, close } = openDatabase(file);
    db.exec('CREATE TEMP TABLE waits (for_what TEXT, level INTEGER)');
    for (const table of ['inbox', 'batches']) {
      db.exec(`CREATE TEMP TRIGGER ${table}_level AFTER INSERT ON main.${table}
               BEGIN INSERT INTO waits SELECT '${table}', synchronous FROM pragma_synchronous; END`);
    }
    inboxTable(db).append([{ scope: 0, receivedAt: 1, body: BODY }]);
    const message = {
      channelId: '1',
      kind: 'create',
      reason: null,
      payload: '{}',
      plainText: false,
      attachment: null,
    } as const;
    outboxTable(db).freeze({ ...message, reference: 'r', nonce: 'n', alerts: [], mentioning: [] }, 1);
    expect(db.prepare('SELECT for_what, level FROM waits').raw().all()).toEqual([
      ['inbox', 2],
      ['batches', 2],
    ]);
    close();
  });

  it('frees the disk space that the log needed during a long read', () => {
    const { db, close } = openDatabase(file);
    const inbox = inboxTable(db);
    const log = () => statSync(`${file}-wal`).size / 2 ** 20;
    const append = (mebibytes: number) => {
      for (let n = 0; n < mebibytes; n++) inbox.append([{ scope: 0, receivedAt: 1, body: Buffer.alloc(2 ** 20) }]);
    };
    const { db: reader, close: closeReader } = openReader(file);
    reader.exec('BEGIN; SELECT count(*) FROM inbox');
    append(16);
    expect(log()).toBeGreaterThan(16);
    reader.exec('COMMIT');
    // The first of these checkpoints the log, the others start it again.
    append(3);
    expect(log()).toBeLessThanOrEqual(8);
    closeReader();
    close();
  });

  it('leaves checkpoints and the length of the log to Litestream where that copies the database', () => {
    const { db, close } = openDatabase(file);
    db.exec('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)');
    setCheckpoints(db);
    const inbox = inboxTable(db);
    const sizes = () => ['', '-wal'].map((end) => Math.floor(statSync(`${file}${end}`).size / 2 ** 20));
    const append = (mebibytes: number) => {
      for (let n = 0; n < mebibytes; n++) inbox.append([{ scope: 0, receivedAt: 1, body: Buffer.alloc(2 ** 20) }]);
    };
    append(12);
    runDeletionStep(db, () => append(2));
    expect(sizes()).toEqual([0, 14]);
    db.pragma('wal_checkpoint(PASSIVE)');
    append(1);
    // What Litestream has not copied yet may be at the old end.
    expect(sizes()).toEqual([14, 14]);
    close();
  });

  it('lets one process open the database, and names the file and what to do to a second one', () => {
    const { close } = openDatabase(file);
    expect(() => openDatabase(file)).toThrow(
      `Another process is using ${file}. Only one Ledgerbell can use a database file: stop the other one, or set a ` +
        'different file in DATABASE_URL.',
    );
    close();
    openDatabase(file).close();
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

  it('releases the database as soon as a process that held it was killed', async () => {
    const script = `
      const { openDatabase } = await import(${JSON.stringify(resolve('src/store/sqlite/database.ts'))});
      // Without a name its lock would go with the garbage.
      globalThis.held = openDatabase(${JSON.stringify(file)});
      console.log('open');
      setInterval(() => {}, 1_000);`;
    holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await inTime('a process opens the database', once(holder.stdout!, 'data'));
    expect(() => openDatabase(file)).toThrow('Another process is using');
    holder.kill('SIGKILL');
    await inTime('the process ends', once(holder, 'exit'));
    openDatabase(file).close();
  });

  it('refuses a database of a newer version without touching it', () => {
    const newer = new Database(file);
    newer.pragma(`user_version = ${MIGRATIONS.length + 1}`);
    newer.close();
    expect(() => openDatabase(file)).toThrow(
      `written by a newer Ledgerbell (schema ${MIGRATIONS.length + 1}; this one uses schema ${MIGRATIONS.length})`,
    );
    const after = new Database(file, { readonly: true });
    expect(after.pragma('user_version', { simple: true })).toBe(MIGRATIONS.length + 1);
    expect(after.prepare('SELECT * FROM sqlite_master').all()).toEqual([]);
    after.close();
    // The refusal does not keep the lock.
    rmSync(file);
    openDatabase(file).close();
  });

  it.each([
    [1, 'Use the newer version.'],
    [-1, 'Start the Ledgerbell of this version once.'],
  ])('explains to an operator’s tool what to do with a database whose schema is %i away', (away, todo) => {
    const other = new Database(file);
    other.pragma(`user_version = ${MIGRATIONS.length + away}`);
    other.close();
    expect(() => connectExisting(file)).toThrow(todo);
  });

  it('opens an up-to-date database unchanged, without a copy', () => {
    openDatabase(file).close();
    const { db, close } = openDatabase(file);
    expect(db.pragma('user_version', { simple: true })).toBe(MIGRATIONS.length);
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    close();
    expect(readdirSync(directory).filter((name) => name.includes('before-schema'))).toEqual([]);
  });
});
