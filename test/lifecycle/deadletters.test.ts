import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Discord, startDiscord } from '../../sandbox/discord/index.ts';
import type { App } from '../../src/app.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { openBeside } from '../../src/store/sqlite/database.ts';
import { storyReader } from '../../src/store/sqlite/stories.ts';
import { shownIn } from '../discord/shown.ts';
import { ALICE, HARBOR, payment, TREASURY } from '../pipeline/harness.ts';
import { until } from '../until.ts';
import { CHANNEL, post, startHere } from './app.ts';

const MINUTE = 60_000;

let directory: string;
let file: string;
let discord: Discord;
let app: App;
/** Lets the minute pass for which the bot waits between two looks. */
let minute: () => void;
let restart: () => Promise<void>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'deadletters-'));
  file = join(directory, 'bot.sqlite');
  discord = await startDiscord({ limits: 'none' });
  const looks: (() => void)[] = [];
  const clock: Clock = {
    now: systemClock.now,
    after(ms, run) {
      if (ms !== MINUTE) return systemClock.after(ms, run);
      looks.push(run);
      return () => undefined;
    },
  };
  minute = () => {
    for (const look of looks.splice(0)) look();
  };
  const start = () => startHere(file, discord, clock);
  app = await start();
  restart = async () => {
    await app.close();
    app = await start();
  };
});
afterEach(async () => {
  await app.close();
  await discord.close();
  rmSync(directory, { recursive: true });
});

function beside<T>(run: (db: ReturnType<typeof openBeside>) => T): T {
  const db = openBeside(file);
  try {
    return run(db);
  } finally {
    db.close();
  }
}

const count = (table: string) =>
  beside((db) => db.prepare<[], { n: number }>(`SELECT count(*) AS n FROM ${table}`).get()!.n);

async function deadletters(...args: string[]) {
  const env = { PATH: process.env.PATH, DATABASE_URL: `sqlite:${file}` };
  const done = await promisify(execFile)(process.execPath, ['src/ledgerbell.ts', 'deadletters', ...args], {
    env,
  }).catch((error: { code: number; stdout: string; stderr: string }) => error);
  return { code: 'code' in done ? done.code : 0, stdout: done.stdout, stderr: done.stderr };
}

/** Discord refuses every message until the fault is lifted; one line becomes a dead letter. */
async function makeDeadLetter(): Promise<void> {
  discord.fault({
    fault: { kind: 'error', status: 400, code: 50035, message: 'Invalid Form Body' },
    method: 'POST',
    channelId: CHANNEL,
  });
  expect(await post(app, JSON.stringify(payment({ from: ALICE })))).toBe(200);
  await until(() => count('dead_letters') === 1);
  discord.clearFaults();
}

describe('beside a running bot', () => {
  it('lists, shows and replays a dead letter, which is then posted', async () => {
    await makeDeadLetter();
    const listed = await deadletters('list');
    expect(listed.stdout).toMatch(
      new RegExp(`^Dead letters .*: 1\nd1 {2}\\d{4}-\\d\\d-\\S+ {2}channel ${CHANNEL} {2}\\S.*\nQuarantine .*: 0\n$`),
    );
    const shown = await deadletters('show', 'd1');
    expect(shown.stdout).toContain(`channel  ${CHANNEL}`);
    expect(shown.stdout).toContain(TREASURY);
    expect(discord.messages(CHANNEL)).toEqual([]);

    expect(await deadletters('replay', 'd1')).toMatchObject({ code: 0, stderr: '' });
    minute();
    await discord.until(() => discord.messages(CHANNEL).length === 1);
    expect(count('dead_letters')).toBe(0);
    expect((await deadletters('replay', 'd1')).stderr).toBe(
      'There is no d1. To list all, run: npm run deadletters -- list\n',
    );
  });

  it('lists, shows and replays an edit that Discord refused, without posting the alert again', async () => {
    const body = JSON.stringify(payment({ from: ALICE }));
    discord.fault({
      fault: { kind: 'error', status: 400, code: 50035, message: 'Invalid Form Body' },
      method: 'PATCH',
      channelId: CHANNEL,
    });
    expect(await post(app, body)).toBe(200);
    await discord.until(() => discord.messages(CHANNEL).length === 1);
    expect(await post(app, body)).toBe(200);
    await until(() => count('dead_letters') === 1);
    discord.clearFaults();
    expect((await deadletters('list')).stdout).toMatch(/^d1 .* change of a sent message: \S/m);
    const { stdout } = await deadletters('show', 'd1');
    expect(stdout).toContain('d1: a sent message that could not be changed');
    expect(stdout).toContain(TREASURY);
    expect((await deadletters('replay', 'd1')).stdout).toContain('d1 is queued again');
    minute();
    const told = () => discord.messages(CHANNEL).map(({ message }) => JSON.stringify(message).includes('×2'));
    await discord.until(() => told().includes(true));
    expect([told(), count('dead_letters')]).toEqual([[true], 0]);
  });

  it('shows a quarantined delivery with control characters escaped, and routes it when replayed', async () => {
    const hostile = Buffer.from([...Buffer.from('{"a":"\u001b[2J\r\n\u202e'), 0xff, 0x00]);
    expect(await post(app, hostile)).toBe(200);
    expect(await post(app, '\u001b]0;title\u0007 {é')).toBe(200);
    await until(() => count('quarantine') === 2);

    const listed = await deadletters('list');
    expect(listed.stdout).toContain('Quarantine (deliveries that could not be read): 2\nq1  ');
    const [broken, text] = [await deadletters('show', 'q1'), await deadletters('show', 'q2')];
    expect(broken.stdout).toContain('{"a":"\\x1b[2J\\x0d\n\\xe2\\x80\\xae\\xff\\x00');
    expect(text.stdout).toContain('\\u{1b}]0;title\\u{7} {é');
    for (const { stdout } of [listed, broken, text]) expect(stdout).not.toMatch(/[^\n\P{Cc}]/u);
    expect(listed.stdout).toMatch(/q1 .* operator /);
    beside((db) =>
      db.exec(`INSERT INTO projects VALUES (7, '4242', 'p', x'00', 'u', 1, 0);
               UPDATE quarantine SET scope = 7 WHERE id = 1`),
    );
    expect((await deadletters('list')).stdout).toMatch(/q1 .* server 4242 /);
    expect((await deadletters('show', 'q1')).stdout).toContain('url      server 4242');
    beside((db) => db.exec('DELETE FROM projects'));
    expect((await deadletters('list')).stdout).toMatch(/q1 .* removed project 7 /);

    // What a later version understands: the same row with the body that it should have had.
    const body = Buffer.from(JSON.stringify(payment({ from: ALICE })));
    beside((db) => db.prepare('UPDATE quarantine SET body = ? WHERE id = 2').run(body));
    expect((await deadletters('replay', 'q2')).code).toBe(0);
    minute();
    await discord.until(() => discord.messages(CHANNEL).length === 1);
    // What still cannot be understood comes back.
    expect((await deadletters('replay', 'all')).stdout).toContain('0 dead letters and 1 deliveries');
    await until(() => count('inbox') === 1);
    minute();
    await until(() => count('quarantine') === 1);
    expect(count('inbox')).toBe(0);
  });

  it.each([
    ['10,000 deliveries', 9_999, "'x'"],
    ['50 MB', 49, 'zeroblob(1050000)'],
  ])(
    'refuses deliveries while the quarantine holds %s, also after a restart, until it is emptied',
    async (_, rows, body) => {
      beside((db) =>
        db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
               INSERT INTO quarantine (scope, received_at, reason, body) SELECT 0, 1, 'r', ${body} FROM n`),
      );
      minute();
      // One more that cannot be understood fills it up.
      expect(await post(app, 'x'.repeat(1_000_000))).toBe(200);
      await until(async () => (await post(app, JSON.stringify(payment()))) === 503);
      await restart();
      expect(await post(app, JSON.stringify(payment()))).toBe(503);
      expect((await deadletters('discard', 'q1')).stdout).toBe('q1 is deleted.\n');
      expect((await deadletters('discard', 'all')).stdout).toContain(`${rows} deliveries were deleted`);
      minute();
      await until(async () => (await post(app, JSON.stringify(payment()))) === 200);
      expect(count('quarantine')).toBe(0);
    },
  );

  it('ends without an error when the reader of a long list stops early', async () => {
    beside((db) =>
      db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
               INSERT INTO quarantine (scope, received_at, reason, body) SELECT 0, 1, 'r', 'x' FROM n`),
    );
    const env = { PATH: process.env.PATH, NODE: process.execPath, DATABASE_URL: `sqlite:${file}` };
    const cut = await promisify(execFile)('sh', ['-c', '"$NODE" src/ledgerbell.ts deadletters list | head -1'], {
      env,
    });
    expect(cut).toEqual({ stdout: 'Dead letters (alerts that could not be sent): 0\n', stderr: '' });
  });

  it('discards dead letters by ID or channel, counts them, and keeps them in the history of their transfers', async () => {
    await makeDeadLetter();
    const txHash = `0x${'5'.repeat(64)}`;
    beside((db) =>
      db.exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 501)
               INSERT INTO transfers (id, key, scope, tx_hash, seen_at, count, bodies, data)
                 SELECT i, CAST(i AS BLOB), 0, '${txHash}', 1, 1, 1, '{}' FROM n;
               INSERT INTO alerts (id, transfer_id, guild_id, channel_id, matches, created_at, state)
                 SELECT id, id, 'g', iif(id < 500, '77', '78'), '[]', 1, 'dead' FROM transfers WHERE id > 1;
               INSERT INTO dead_letters (alert_id, channel_id, payload, reason, at)
                 SELECT id, channel_id, '', 'r', 1 FROM alerts WHERE id > 1`),
    );
    expect((await deadletters('discard', 'all')).stdout).toContain('0 deliveries');
    expect((await deadletters('discard', 'd1', 'd9999')).stderr).toMatch(/^There is no d9999\./);
    expect((await deadletters('discard', 'channel', '77', '78')).stderr).toContain('Specify one channel ID');
    expect(count('dead_letters')).toBe(501);
    const before = Date.now();
    const channel = await deadletters('discard', 'channel', '77');
    expect(channel.stdout).toBe('498 dead letters of channel 77 were deleted.\n');
    expect((await deadletters('discard', 'd1', 'd500')).stdout).toBe('d1, d500 are deleted.\n');
    expect((await deadletters('list')).stdout).toMatch(/sent\): 1\nd501 /);
    beside((db) => db.exec('UPDATE dead_letters SET alert_id = 9999'));
    expect(await deadletters('replay', 'd501')).toMatchObject({
      code: 1,
      stderr: 'The transfer of d501 is no longer stored, so it cannot be sent: discard it.\n',
    });
    expect((await deadletters('discard', 'd501')).stdout).toBe('d501 is deleted.\n');
    const [{ first }, { first: own }] = beside((db) => {
      const reader = storyReader(db);
      const hash = db.prepare<[], string>('SELECT tx_hash FROM transfers WHERE id = 1').pluck().get()!;
      return [
        reader.transfers('g', txHash, null, Date.now(), 1_000),
        reader.transfers(HARBOR, hash, null, Date.now(), 1),
      ];
    });
    const gone = [...first, ...own].flatMap(({ alerts }) => alerts).filter(({ discardedAt }) => discardedAt !== null);
    expect(gone.length).toBe(500);
    for (const { state, discardedAt } of gone) expect([state, discardedAt! >= before]).toEqual(['dead', true]);
    // Nothing is told again by a bot that looks, nor with what comes then.
    minute();
    expect(await post(app, JSON.stringify(payment({ from: ALICE })))).toBe(200);
    await discord.until(() => discord.messages(CHANNEL).length > 0);
    expect(discord.messages(CHANNEL).flatMap(({ message }) => shownIn(message))).toHaveLength(1);
  });
});

describe('arguments', () => {
  it.each(['--help', '-h'])('prints the usage with examples on %s', async (flag) => {
    const { code, stdout } = await deadletters(flag);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Usage:[\s\S]*Examples:\n.* -- show d12\n/)]);
  });

  it.each([[[]], [['show']], [['replay']], [['discard']], [['everything']], [['list', 'd1']], [['show', 'd1', 'd2']]])(
    'prints the usage and fails on the arguments %j',
    async (args) => {
      const { code, stderr } = await deadletters(...args);
      expect(code).toBe(1);
      expect(stderr).toContain('Usage: ledgerbell deadletters');
    },
  );

  it.each(['12', 'x1', 'd', 'd-1', 'd1;', '\u001b[2J'])('refuses %j, which is not an ID', async (id) => {
    const { code, stderr } = await deadletters('show', id);
    expect(code).toBe(1);
    expect(stderr).toContain('is not an ID. IDs look like d12 or q3');
    expect(stderr).not.toContain('\u001b');
  });

  it('names a file that is not a database of the bot', async () => {
    file = join(directory, 'notes.txt');
    writeFileSync(file, 'A file of somebody else, who would miss it.');
    const { code, stderr } = await deadletters('list');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/notes\.txt cannot be used: .*DATABASE_URL/)]);
  });

  it('says that an ID does not exist', async () => {
    expect((await deadletters('show', 'q9')).stderr).toBe(
      'There is no q9. To list all, run: npm run deadletters -- list\n',
    );
  });
});
