import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { zstdCompressSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { SCHEMA_VERSION } from '../../../src/store/schema.ts';
import { backUp, restore } from '../../../src/store/sqlite/backup.ts';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { backupFolder } from '../../../src/store/sqlite/files.ts';
import { BARE_ENVIRONMENT, ledgerbell } from '../../bare-environment.ts';
import { temporaryFolder } from '../../folder.ts';
import { inTime, until } from '../../until.ts';
import { received } from '../contract/given.ts';
import { storeOver } from './opened.ts';

const NOW = Date.UTC(2026, 0, 31, 12);

let directory: string;
let file: string;
let copy: string;
beforeEach(() => {
  directory = temporaryFolder();
  file = join(directory, 'bot.sqlite');
  copy = join(directory, 'elsewhere', 'copy.sqlite');
});

async function store(...bodies: string[]): Promise<void> {
  const { db, close } = openDatabase(file);
  await storeOver(db).inbox.append(bodies.map((body) => received(body)));
  close();
}

function bodies(path: string): string[] {
  const db = new Database(path, { readonly: true });
  const rows = db.prepare<[], { body: Buffer }>('SELECT body FROM inbox ORDER BY id').all();
  db.close();
  return rows.map(({ body }) => body.toString());
}

const moduleUrl = (path: string): string => JSON.stringify(resolve('src/store', path));

/** Another process that holds the database as the bot does and commits without a pause; each line it prints is a body. */
async function startWriter() {
  const script = `
    const { openDatabase, transactions } = await import(${moduleUrl('sqlite/database.ts')});
    const { inbox } = await import(${moduleUrl('queries/inbox.ts')});
    const open = openDatabase(${JSON.stringify(file)});
    // Both ends of the database stay reachable, or its lock would go with the garbage.
    process.on('exit', open.close);
    const { run } = transactions(open.db);
    const delivery = { scope: 0, receivedAt: 1, identity: null, run: 'r', runMs: 0 };
    let n = 0;
    const write = async () => {
      const body = Buffer.from('body ' + ++n);
      await run('receive', (sql) => inbox.append.run(sql, [{ ...delivery, body }]));
      process.stdout.write('body ' + n + '\\n', () => setImmediate(write));
    };
    await write();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const committed = () => said.split('\n').slice(0, -1);
  const reaches = (count: number) => until(`the writer commits ${count} bodies`, () => committed().length >= count);
  return {
    committed,
    reaches,
    async kill() {
      child.kill('SIGKILL');
      await inTime('the writer ends', once(child, 'exit'));
    },
  };
}

function compressed(path: string, damage: (bytes: Buffer) => Buffer): void {
  writeFileSync(path, damage(zstdCompressSync(readFileSync(file))));
}

const run = (...args: string[]) => ledgerbell(args, { DATABASE_URL: `sqlite:${file}` });

describe('a backup', () => {
  it('reports a backup’s progress, and copies one snapshot although the database changes between its steps', async () => {
    await store(...Array.from({ length: 12 }, (_, n) => `${n}`.padEnd(2 ** 20)));
    const { db, close } = openDatabase(file);
    const { inbox } = storeOver(db);
    const shares: number[] = [];
    await backUp(file, `${copy}.zst`, (done, total, what) => {
      if (what !== 'copying') return;
      shares.push(done / total);
      // On this thread its statements run at once.
      if (shares.length < 4) void inbox.append([received('later')]);
    });
    close();
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(shares.filter((share) => share > 0).length).toBeLessThan(4);
    await restore(file, `${copy}.zst`, NOW);
    expect(bodies(file)).toHaveLength(12);
  });

  it('restores everything that was committed before a backup while a bot writes', async () => {
    const writer = await startWriter();
    await writer.reaches(200);
    const before = writer.committed();
    const made = await run('backup', copy);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toContain(copy);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    const after = writer.committed().length;
    // The writer was not held up for good, and what it does from now on is not in the backup.
    await writer.reaches(after + 200);

    const early = await run('restore', copy);
    expect(early).toMatchObject({ code: 1, stdout: '' });
    expect(early.stderr).toBe(`Ledgerbell is running on ${file}. Stop it first, then restore. Nothing was changed.\n`);
    await writer.kill();
    const lost = writer.committed().at(-1)!;

    expect(await run('restore', copy)).toMatchObject({ code: 0, stderr: '' });
    const { db, close } = openDatabase(file);
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const restored = bodies(file);
    expect(restored.slice(0, before.length)).toEqual(before);
    expect(restored).not.toContain(lost);
    // The database that was replaced has every commit, those of its log too.
    const kept = readdirSync(directory).find((name) => /before-restore-[\dTZ-]+$/.test(name))!;
    expect(bodies(join(directory, kept))).toContain(lost);
  });

  it('puts a backup without a name next to the database, named by the time', async () => {
    await store('a');
    expect((await run('backup')).code).toBe(0);
    expect(statSync(backupFolder(file)).mode & 0o777).toBe(0o700);
    const [name, ...more] = readdirSync(backupFolder(file));
    expect(more).toEqual([]);
    expect(name).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.sqlite\.zst$/);
    const restored = join(directory, 'restored.sqlite');
    await restore(restored, join(backupFolder(file), name!), NOW);
    expect(bodies(restored)).toEqual(['a']);
  });

  it('puts a compressed backup into a named folder and keeps only the newest ones named by the time', async () => {
    await store(...Array.from({ length: 100 }, () => 'x'.repeat(5_000)));
    const folder = join(directory, 'other disk');
    for (let n = 0; n < 3; n++) {
      expect(await run('backup', '--to', folder, '--keep', '2')).toMatchObject({ code: 0, stderr: '' });
      if (n === 0) for (const name of ['mine.sqlite.zst', 'daily-x.sqlite.zst']) writeFileSync(join(folder, name), '');
    }
    const names = readdirSync(folder).toSorted();
    expect(names.map((name) => name.replace(/^\d.*Z/, 'time'))).toEqual([
      'time.sqlite.zst',
      'time.sqlite.zst',
      'daily-x.sqlite.zst',
      'mine.sqlite.zst',
    ]);
    expect(statSync(join(folder, names[0]!)).size).toBeLessThan(statSync(file).size / 10);
    expect(statSync(join(folder, names[0]!)).mode & 0o777).toBe(0o600);
    await store('later');
    await restore(file, join(folder, names[1]!), NOW);
    expect(bodies(file)).toHaveLength(100);
    expect(readdirSync(directory).filter((name) => name.includes('unpacked'))).toEqual([]);
    expect(await run('backup', copy, '--to', folder)).toMatchObject({
      code: 1,
      stderr: 'Specify a file or a folder, not both.\n',
    });
  });

  it('puts a backup into BACKUP_DIR when that is set', async () => {
    await store('a');
    const folder = join(directory, 'usual');
    await ledgerbell(['backup'], { DATABASE_URL: `sqlite:${file}`, BACKUP_DIR: folder });
    expect([readdirSync(folder).length, existsSync(backupFolder(file))]).toEqual([1, false]);
  });

  it('creates a backup as one whole file, leaves no partial one, and replaces no file with it', async () => {
    await store('a');
    await backUp(file, copy);
    expect(readdirSync(join(directory, 'elsewhere'))).toEqual(['copy.sqlite']);
    await store('b');
    await expect(backUp(file, copy)).rejects.toThrow(`${copy} already exists.`);
    expect(bodies(copy)).toEqual(['a']);
  });

  it('names the full disk when a backup does not fit', async () => {
    await store(...Array.from({ length: 100 }, () => 'x'.repeat(5_000)));
    const limited = ['-c', 'ulimit -f 100; exec "$@"', 'sh', process.execPath, 'src/main.ts', 'backup', copy];
    const env = { ...BARE_ENVIRONMENT, DATABASE_URL: `sqlite:${file}` };
    const done = promisify(execFile)('sh', limited, { env });
    await expect(done).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`^${file} cannot be copied to ${copy}: .* Free up space`)),
    });
    expect(readdirSync(join(directory, 'elsewhere'))).toEqual([]);
  });

  it.each<[string, () => void, number, RegExp]>([
    ['there is no database', () => rmSync(file), 1, /^There is no database at .*\. Set its path in DATABASE_URL\.\n$/],
    [
      'the system refuses to write it',
      () => mkdirSync(`${copy}.partial`, { recursive: true }),
      1,
      /bot\.sqlite cannot be used: .*Run this as the user that runs the bot/s,
    ],
    [
      'a file stands where its folder should be',
      () => writeFileSync(join(directory, 'elsewhere'), ''),
      78,
      /^The folder of .*copy\.sqlite cannot be made: .* is not a folder\. Specify a file /,
    ],
  ])('says why there is no backup when %s', async (_what, arrange, code, stderr) => {
    await store('a');
    arrange();
    expect(await run('backup', copy)).toEqual({ code, stdout: '', stderr: expect.stringMatching(stderr) });
  });

  it('refuses to back up a damaged database', async () => {
    await store(...Array.from({ length: 500 }, (_, n) => `${n} `.repeat(500)));
    const bytes = readFileSync(file);
    bytes.fill(0xff, 40_960, 200_000);
    writeFileSync(file, bytes);
    await expect(backUp(file, copy)).rejects.toThrow(`${file} is not a valid Ledgerbell database`);
    expect(existsSync(copy), 'whether a copy is left').toBe(false);
  });
});

describe('a restore', () => {
  it.each([
    ['is no database', (path: string) => writeFileSync(path, 'not a database '.repeat(1_000))],
    ['is empty', (path: string) => writeFileSync(path, '')],
    [
      'comes from a newer version',
      (path: string) => {
        copyFileSync(file, path);
        const db = new Database(path);
        db.pragma(`user_version = ${SCHEMA_VERSION + 1}`);
        db.close();
      },
    ],
    ['is damaged and compressed', (path: string) => compressed(path, (bytes) => bytes.fill(0xff, 200, 220))],
    ['is compressed and ends too early', (path: string) => compressed(path, (bytes) => bytes.subarray(0, 300))],
    ['is compressed and no database', (path: string) => writeFileSync(path, zstdCompressSync('not a database'))],
  ])('changes nothing when it restores a file that %s', async (_what, make) => {
    await store('a');
    const bad = join(directory, 'bad.sqlite');
    make(bad);
    await expect(restore(file, bad, NOW)).rejects.toThrow(bad);
    expect(bodies(file)).toEqual(['a']);
    expect(readdirSync(directory).filter((name) => name.includes('restore'))).toEqual([]);
    // The refusal does not keep the lock.
    await store('b');
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ['no backup', () => restore(file, copy, NOW), 'There is no backup at '],
    [
      'no permission to write',
      () => {
        const other = join(directory, 'other.sqlite');
        mkdirSync(`${other}.lock`);
        return restore(other, file, NOW);
      },
      'cannot be restored: ',
    ],
    [
      'no folder',
      () => restore('/proc/bell/x.sqlite', file, NOW),
      'The folder of /proc/bell/x.sqlite cannot be made: ',
    ],
  ])('says that there is %s, not that a bot runs', async (_what, restoring, message) => {
    await store('a');
    await expect(restoring()).rejects.toThrow(message);
  });

  it('restores a database on a new machine', async () => {
    await store('a');
    await backUp(file, copy);
    for (const name of readdirSync(directory)) if (name.startsWith('bot.')) rmSync(join(directory, name));
    expect(await restore(file, copy, NOW)).toEqual({ kept: null });
    expect(bodies(file)).toEqual(['a']);
  });

  it('restores through a link to where the database is', async () => {
    await store('a');
    await backUp(file, copy);
    await store('b');
    const link = join(directory, 'link.sqlite');
    symlinkSync(file, link);
    const { kept } = await restore(link, copy, NOW);
    expect([bodies(file), bodies(kept!), lstatSync(link).isSymbolicLink()]).toEqual([['a'], ['a', 'b'], true]);
  });
});
