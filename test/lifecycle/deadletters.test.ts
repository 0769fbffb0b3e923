import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Discord, startDiscord } from '../../sandbox/discord/index.ts';
import type { App } from '../../src/app.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { shownIn } from '../discord/shown.ts';
import { ALICE, HARBOR, payment, TREASURY } from '../pipeline/harness.ts';
import { freeze, newAlert, quarantine, routed, storedTransfer } from '../store/contract/given.ts';
import { orphanDeadLetters, rewriteQuarantine } from '../store/sqlite/database-file.ts';
import { until } from '../until.ts';
import { CHANNEL, post, startHere } from './app.ts';
import { accepted } from './bot.ts';

const MINUTE = 60_000;
const OWN_TOKEN = 'path-token-of-the-server';

let stack: AsyncDisposableStack;
let directory: string;
let file: string;
let discord: Discord;
let app: App;
/** Lets the minute pass that the bot waits between two reads of the database. */
let minute: () => void;
let restart: () => Promise<void>;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  directory = stack.adopt(mkdtempSync(join(tmpdir(), 'deadletters-')), (it) => rmSync(it, { recursive: true }));
  file = join(directory, 'bot.sqlite');
  discord = stack.adopt(await startDiscord({ limits: 'none' }), (it) => it.close());
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
  stack.defer(() => app.close());
  restart = async () => {
    await app.close();
    app = await start();
  };
});
afterEach(() => stack.disposeAsync());

const store = () => app.internals.store;

/** How many dead letters, quarantined deliveries and deliveries in the inbox there are. */
async function backlog() {
  const { deadLetters, quarantine: kept, inbox } = await store().metrics.backlog(Date.now());
  return { deadLetters, quarantine: kept.rows, inbox: inbox.waiting };
}
const backlogBecomes = (wanted: Partial<Awaited<ReturnType<typeof backlog>>>) =>
  until(`the backlog is ${JSON.stringify(wanted)}`, async () => {
    const present = await backlog();
    return Object.entries(wanted).every(([kind, n]) => present[kind as keyof typeof present] === n);
  });

async function deadletters(...args: string[]) {
  const env = { PATH: process.env.PATH, DATABASE_URL: `sqlite:${file}` };
  const done = await promisify(execFile)(process.execPath, ['src/ledgerbell.ts', 'deadletters', ...args], {
    env,
  }).catch((error: { code: number; stdout: string; stderr: string }) => error);
  return { code: 'code' in done ? done.code : 0, stdout: done.stdout, stderr: done.stderr };
}

/** Discord refuses every message until the fault is lifted; one line becomes a dead letter. Returns its transaction. */
async function makeDeadLetter(): Promise<string> {
  discord.fault({
    fault: { kind: 'error', status: 400, code: 50035, message: 'Invalid Form Body' },
    method: 'POST',
    channelId: CHANNEL,
  });
  const body = payment({ from: ALICE });
  await accepted(() => post(app, JSON.stringify(body)));
  await backlogBecomes({ deadLetters: 1 });
  discord.clearFaults();
  return String(body.txHash);
}

describe('commands while a bot runs', () => {
  it('lists, shows and replays a dead letter, which is then posted', async () => {
    const txHash = await makeDeadLetter();
    const listed = await deadletters('list');
    expect(listed.stdout).toMatch(
      new RegExp(`^Dead letters .*: 1\nd1 {2}\\d{4}-\\d\\d-\\S+ {2}channel ${CHANNEL} {2}\\S.*\nQuarantine .*: 0\n$`),
    );
    const shown = await deadletters('show', 'd1');
    expect(shown.stdout).toContain(`channel  ${CHANNEL}`);
    const [, transfer] = /^transfer (.+)$/m.exec(shown.stdout)!;
    expect(JSON.parse(transfer!)).toMatchObject({ txHash, to: TREASURY });
    expect(discord.messages(CHANNEL)).toEqual([]);

    expect(await deadletters('replay', 'd1')).toMatchObject({ code: 0, stderr: '' });
    minute();
    await discord.until('the alert is posted', () => discord.messages(CHANNEL).length === 1);
    expect(await backlog()).toMatchObject({ deadLetters: 0 });
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
    await accepted(() => post(app, body));
    await discord.until('the alert is posted', () => discord.messages(CHANNEL).length === 1);
    expect(await post(app, body)).toBe(200);
    await backlogBecomes({ deadLetters: 1 });
    discord.clearFaults();
    expect((await deadletters('list')).stdout).toMatch(/^d1 .* change of a sent message: \S/m);
    const { stdout } = await deadletters('show', 'd1');
    expect(stdout).toContain('d1: a sent message that could not be changed');
    expect(stdout).toContain(TREASURY);
    expect((await deadletters('replay', 'd1')).stdout).toContain('d1 is queued again');
    minute();
    const shown = () => discord.messages(CHANNEL).map(({ message }) => JSON.stringify(message));
    await discord.until('a message shows ×2', () => shown().some((message) => message.includes('×2')));
    expect(shown()).toEqual([expect.stringContaining('×2')]);
    expect(await backlog()).toMatchObject({ deadLetters: 0 });
  });

  it('shows a quarantined delivery with control characters escaped, and routes it when replayed', async () => {
    const hostile = Buffer.from([...Buffer.from('{"a":"\u001b[2J\r\n\u202e'), 0xff, 0x00]);
    const project = { guildId: '4242', projectId: 'p', sealed: Buffer.alloc(1) };
    const scope = await store().projects.save(project, OWN_TOKEN);
    await restart();
    await accepted(() => post(app, hostile, OWN_TOKEN));
    await backlogBecomes({ quarantine: 1 });
    await accepted(() => post(app, '\u001b]0;title\u0007 {é'));
    await backlogBecomes({ quarantine: 2 });

    const listed = await deadletters('list');
    expect(listed.stdout).toContain('Quarantine (deliveries that could not be read): 2\nq1  ');
    const [broken, text] = [await deadletters('show', 'q1'), await deadletters('show', 'q2')];
    expect(broken.stdout).toContain('{"a":"\\x1b[2J\\x0d\n\\xe2\\x80\\xae\\xff\\x00');
    expect(text.stdout).toContain('\\u{1b}]0;title\\u{7} {é');
    for (const { stdout } of [listed, broken, text]) expect(stdout).not.toMatch(/[^\n\P{Cc}]/u);
    expect(listed.stdout).toMatch(/q1 .* server 4242 /);
    expect(listed.stdout).toMatch(/q2 .* operator /);
    expect(broken.stdout).toContain('url      server 4242');
    await store().projects.remove('4242');
    expect((await deadletters('list')).stdout).toContain(`removed project ${scope} `);

    // What a later version understands: the same row with the body that it should have had.
    const body = Buffer.from(JSON.stringify(payment({ from: ALICE })));
    rewriteQuarantine(file, (before, id) => (id === 2 ? body : before));
    expect((await deadletters('replay', 'q2')).code).toBe(0);
    minute();
    await discord.until('the alert is posted', () => discord.messages(CHANNEL).length === 1);
    // What still cannot be understood comes back.
    expect((await deadletters('replay', 'all')).stdout).toContain('0 dead letters and 1 delivery.');
    await backlogBecomes({ inbox: 1 });
    minute();
    await backlogBecomes({ quarantine: 1, inbox: 0 });
  });

  it.each([
    ['10,000 deliveries', 9_999, 1],
    ['50 MB', 49, 1_050_000],
  ])(
    'refuses deliveries while the quarantine holds %s, also after a restart, until it is emptied',
    async (_, rows, bytes) => {
      await quarantine(store(), Array<Buffer>(rows).fill(Buffer.alloc(bytes)));
      minute();
      // One more that cannot be understood fills it up.
      await accepted(() => post(app, 'x'.repeat(1_000_000)));
      await until('deliveries get 503', async () => (await post(app, JSON.stringify(payment()))) === 503);
      await restart();
      expect(await post(app, JSON.stringify(payment()))).toBe(503);
      expect((await deadletters('discard', 'q1')).stdout).toBe('q1 is deleted.\n');
      expect((await deadletters('discard', 'all')).stdout).toContain(`Deleted ${rows} deliveries. `);
      minute();
      await until('deliveries get 200', async () => (await post(app, JSON.stringify(payment()))) === 200);
      expect(await backlog()).toMatchObject({ quarantine: 0 });
    },
  );

  it('ends without an error when the reader of a long list stops early', async () => {
    await quarantine(store(), Array<string>(5_000).fill('x'));
    const env = { PATH: process.env.PATH, NODE: process.execPath, DATABASE_URL: `sqlite:${file}` };
    const cut = await promisify(execFile)('sh', ['-c', '"$NODE" src/ledgerbell.ts deadletters list | head -1'], {
      env,
    });
    expect(cut).toEqual({ stdout: 'Dead letters (alerts that could not be sent): 0\n', stderr: '' });
  });

  it('discards dead letters by ID or channel, counts them, and keeps them in the history of their transfers', async () => {
    const refused = await makeDeadLetter();
    const txHash = `0x${'5'.repeat(64)}`;
    const numbers = Array.from({ length: 500 }, (_, n) => n + 2);
    const channelOf = (n: number) => (n < 500 ? '77' : '78');
    await store().routing.commit(
      routed({
        now: 1,
        transfers: numbers.map((n) => storedTransfer(n, { transfer: { txHash } })),
        alerts: numbers.map((n) => newAlert(n, { guildId: 'g', channelId: channelOf(n) })),
      }),
    );
    for (const channelId of ['77', '78'])
      await store().outbox.deadLetter(await freeze(store(), { channelId }, 1), 'r', 1);
    expect((await deadletters('discard', 'all')).stdout).toContain('0 deliveries');
    expect((await deadletters('discard', 'd1', 'd9999')).stderr).toMatch(/^There is no d9999\./);
    expect((await deadletters('discard', 'channel', '77', '78')).stderr).toContain('Specify one channel ID');
    expect(await backlog()).toMatchObject({ deadLetters: 501 });
    const before = Date.now();
    const channel = await deadletters('discard', 'channel', '77');
    expect(channel.stdout).toBe('Deleted 498 dead letters of channel 77.\n');
    expect((await deadletters('discard', 'd1', 'd500')).stdout).toBe('d1, d500 are deleted.\n');
    expect((await deadletters('list')).stdout).toMatch(/sent\): 1\nd501 /);
    orphanDeadLetters(file);
    expect(await deadletters('replay', 'd501')).toMatchObject({
      code: 1,
      stderr: 'The transfer of d501 is no longer stored, so it cannot be sent: discard it.\n',
    });
    expect((await deadletters('discard', 'd501')).stdout).toBe('d501 is deleted.\n');
    const { history } = store();
    const { first } = await history.transfers('g', txHash, null, Date.now(), 1_000);
    const { first: own } = await history.transfers(HARBOR, refused, null, Date.now(), 1);
    const gone = [...first, ...own].flatMap(({ alerts }) => alerts).filter(({ discardedAt }) => discardedAt !== null);
    expect(gone).toHaveLength(500);
    expect(gone.filter(({ state, discardedAt }) => state !== 'dead' || discardedAt! < before)).toEqual([]);
    // The bot posts nothing again at a rescan, nor with later alerts.
    minute();
    const later = JSON.stringify(payment({ from: ALICE }));
    await accepted(() => post(app, later));
    await discord.until('the alert is posted', () => discord.messages(CHANNEL).length > 0);
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

  it('reports that an ID does not exist', async () => {
    expect((await deadletters('show', 'q9')).stderr).toBe(
      'There is no q9. To list all, run: npm run deadletters -- list\n',
    );
  });
});
